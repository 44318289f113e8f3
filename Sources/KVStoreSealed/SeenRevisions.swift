import Essentials
import KVStoreEssentials
import LocalFiles

/// The highest revision that this device has seen of each sealed value, in a file beside the replica: a daemon that puts an older
/// value back is noticed also after a restart.
struct SeenRevisions: Sendable {
    /// By stored key.
    private(set) var revisions: [String: UInt64] = [:]
    /// Of what has been opened, by stored key; not in the file.
    private(set) var names: [String: String] = [:]
    /// What differs from the file: nil for a forgotten one.
    private var unsaved: [String: UInt64?] = [:]
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

    /// Whether the revision is older than one seen before; otherwise it is noted.
    @discardableResult
    mutating func note(_ storedKey: String, name: String, _ revision: UInt64) -> Bool {
        names[storedKey] = name
        let former = revisions[storedKey] ?? 0
        guard revision >= former else { return true }
        if revision > former {
            revisions[storedKey] = revision
            unsaved[storedKey] = revision
        }
        return false
    }

    mutating func forget(_ storedKey: String) {
        revisions[storedKey] = nil
        unsaved.updateValue(nil, forKey: storedKey)
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
            try file.replace(
                with: JSONEncoder().encode(Document(version: 1, revisions: saved)),
                durability: .cached)
            (revisions, unsaved) = (saved, [:])
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .storage, operation: "write", subject: file.path,
                reason: (error as? FileError)?.message ?? "\(error)")
        }
    }
}
