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
    private var isChanged = false
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
        do {
            guard let content = try file.read(byteLimit: Self.byteLimit) else { return }
            let document = try JSONDecoder().decode(Document.self, from: content.data)
            guard document.version == 1 else { throw CocoaError(.fileReadCorruptFile) }
            revisions = document.revisions
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
            isChanged = true
        }
        return false
    }

    mutating func forget(_ storedKey: String) {
        if revisions.removeValue(forKey: storedKey) != nil { isChanged = true }
    }

    mutating func save() throws(StoreError) {
        guard isChanged else { return }
        if revisions.count > Self.count {
            let kept = revisions.sorted { $0.value > $1.value }.prefix(Self.count / 2)
            revisions = Dictionary(uniqueKeysWithValues: Array(kept))
        }
        do {
            let document = Document(version: 1, revisions: revisions)
            // After a power failure a little less is noticed.
            try file.replace(with: JSONEncoder().encode(document), durability: .cached)
            isChanged = false
        } catch {
            throw StoreError(
                .storage, operation: "write", subject: file.path,
                reason: (error as? FileError)?.message ?? "\(error)")
        }
    }
}
