import Crypto
import Essentials
import KVStoreEssentials
import KVStoreWire
import LocalFiles

/// The highest revision that this device has seen of each name, in a file beside the replica: a daemon that puts an
/// older value back is noticed also after a restart, and also under an earlier content key.
struct SeenRevisions: Sendable {
    /// By the digest of a name, and by stored key for those that earlier versions wrote.
    private var revisions: [String: UInt64] = [:]
    /// What has been opened, by stored key; not in the file.
    var names: [String: String] = [:]
    /// What differs from the file: nil for a forgotten one.
    private var unsaved: [String: UInt64?] = [:]
    private var hasStoredKeys = false
    private let file: LocalFile

    private struct Document: Codable {
        var version: Int
        var revisions: [String: UInt64]
    }

    /// More than a store has keys: removed ones are remembered too.
    private static let count = 8_192
    private static let byteLimit = 2 << 20

    init(_ file: LocalFile) throws(StoreError) {
        self.file = file
        revisions = try read()
        hasStoredKeys = revisions.keys.contains { $0.hasPrefix(ContentKey.storedKeyPrefix) }
    }

    private func read() throws(StoreError) -> [String: UInt64] {
        do {
            guard let content = try file.read(byteLimit: Self.byteLimit) else { return [:] }
            let document = try JSONDecoder().decode(Document.self, from: content.data)
            guard document.version == 1 else { throw CocoaError(.fileReadCorruptFile) }
            return document.revisions
        } catch {
            throw StoreError(
                .damaged, operation: "read", subject: file.path,
                reason: (error as? FileError)?.message ?? "not a list of revisions",
                hint: "move it away: older values that are put back are then noticed from now on")
        }
    }

    /// Short, whatever the name.
    private static func digest(_ name: String) -> String {
        "n/" + Data(SHA256.hash(data: Data(name.utf8)).prefix(16)).base64URL
    }

    /// The highest revision seen of a name; 0 for none.
    ///
    /// - Parameter storedKeys: those that the name has under the content keys of this device.
    func revision(of name: String, _ storedKeys: @autoclosure () -> [String]) -> UInt64 {
        let revision = revisions[Self.digest(name)] ?? 0
        guard hasStoredKeys else { return revision }
        return max(revision, storedKeys().compactMap { revisions[$0] }.max() ?? 0)
    }

    mutating func remember(_ revision: UInt64, of name: String) {
        let digest = Self.digest(name)
        guard revision > revisions[digest] ?? 0 else { return }
        revisions[digest] = revision
        unsaved[digest] = revision
    }

    mutating func forget(_ name: String, _ storedKeys: [String]) {
        for key in [Self.digest(name)] + storedKeys {
            revisions[key] = nil
            unsaved.updateValue(nil, forKey: key)
        }
    }

    /// Adds what is new to the file, which other processes change too.
    mutating func save() throws(StoreError) {
        guard !unsaved.isEmpty else { return }
        do {
            let lock = try file.lock()
            defer { lock.unlock() }
            var saved = try read()
            for (key, revision) in unsaved {
                saved[key] = revision.map { max($0, saved[key] ?? 0) }
            }
            if saved.count > Self.count {
                let kept = saved.sorted { $0.value > $1.value }.prefix(Self.count / 2)
                saved = Dictionary(uniqueKeysWithValues: Array(kept))
            }
            // After a power failure a little less is noticed.
            try file.replace(with: JSONEncoder().encode(Document(version: 1, revisions: saved)), durability: .cached)
            (revisions, unsaved) = (saved, [:])
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .storage, operation: "write", subject: file.path, reason: (error as? FileError)?.message ?? "\(error)")
        }
    }
}
