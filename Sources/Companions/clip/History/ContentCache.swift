import Essentials
import LocalFiles

/// Contents that are too large for the history, in files of this machine. The least recently used go when they are too
/// many bytes.
struct ContentCache {
    let directory: LocalDirectory
    let byteLimit: Int

    /// The largest copy that is kept.
    static let contentsByteLimit = 32 << 20

    init(_ files: ClipFiles, _ settings: DeviceSettings) {
        directory = files.contents
        byteLimit = min(max(settings.cacheMebibytes, 0), 4_096) << 20
    }

    private func file(_ key: ItemKey) -> LocalFile { Self.file(key, in: directory) }

    private static func file(_ key: ItemKey, in directory: LocalDirectory) -> LocalFile {
        LocalFile(directory.path + "/" + key.identifier)
    }

    var keys: Set<ItemKey> {
        let entries = (try? directory.entries(limit: 65_536))?.entries ?? []  // What cannot be listed is not counted.
        return Set(entries.compactMap { ItemKey(name: "i/" + $0.name) })
    }

    func insert(_ contents: ClipContents, for key: ItemKey) throws {
        guard contents.byteCount <= min(Self.contentsByteLimit, byteLimit) else { return }
        try directory.create()
        let parts = Dictionary(uniqueKeysWithValues: contents.parts.map { ($0.type.rawValue, $0.data) })
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try file(key).replace(with: encoder.encode(parts), durability: .cached)
        try trim()
    }

    /// Nil on a machine that does not have them.
    func contents(of key: ItemKey) throws -> ClipContents? {
        let file = file(key)
        guard let content = try file.read(byteLimit: Self.contentsByteLimit + 65_536),
            // A damaged copy counts as none.
            let parts = try? PropertyListDecoder().decode([String: Data].self, from: content.data)
        else { return nil }
        // For `trim`.
        utimes(file.path, nil)
        return ClipContents(parts.map { ClipContents.Part(ContentType(rawValue: $0.key), $0.value) })
    }

    static func remove(_ keys: [ItemKey], in directory: LocalDirectory) throws(FileError) {
        for key in keys { try file(key, in: directory).remove(durability: .cached) }
    }

    private func trim() throws {
        var files: [(file: LocalFile, status: FileStatus)] = []
        for entry in try directory.entries(limit: 65_536).entries {
            let file = LocalFile(directory.path + "/" + entry.name)
            if let status = try FileStatus(path: file.path) { files.append((file, status)) }
        }
        var byteCount = files.reduce(0) { $0 + Int($1.status.byteCount) }
        for (file, status) in files.sorted(by: { $0.status.modified < $1.status.modified }) {
            guard byteCount > byteLimit else { return }
            try file.remove(durability: .cached)
            byteCount -= Int(status.byteCount)
        }
    }
}
