import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import Synchronization

/// The history of this machine, in a store of its own that no account has. All programs of a user share it.
///
/// What devices share is a sealed store, with which `SharedHistory` reconciles this one: everything works without an
/// account, a network or a key, and what this machine knows of an item is not lost when another machine writes the same
/// one.
///
/// Calls block; any thread may make them.
final class HistoryStore: Sendable {
    let files: ClipFiles
    private let store: UbiquitousKeyValueStore
    /// Items that have been decoded, with the bytes that they were decoded from.
    private let decoded = Mutex<[String: (bytes: Data, entry: LocalEntry)]>([:])
    private let followers = Mutex<[Int: AsyncStream<Set<ItemKey>>.Continuation]>([:])

    /// Room for removed items too, which the local store keeps until they are removed from the shared one.
    private static let limits = StoreLimits(totalByteCount: 4_194_304, valueByteCount: 262_144, keyCount: 4_096)
    private static let stateKey = "state"

    /// - Parameter isWatched: whether `changes` tells of those by other processes.
    init(_ files: ClipFiles = ClipFiles(), isWatched: Bool = false) throws {
        self.files = files
        try LocalDirectory(files.directory).create()
        var configuration = StoreConfiguration(directory: files.history, storeName: "history", limits: Self.limits)
        configuration.isWatched = isWatched
        store = try UbiquitousKeyValueStore(configuration: configuration)
        if !store.status.recoveryNotes.isEmpty {
            Console.report(
                "an incomplete or damaged part of the history was left out; damaged files are kept in " + files.history)
        }
    }

    func close() { store.close() }

    /// The keys of items that have changed, by other processes and this one; none if only the state has. Each call
    /// returns a new stream.
    var changes: AsyncStream<Set<ItemKey>> {
        let changes = store.changes
        return AsyncStream { continuation in
            let number = followers.withLock { followers in
                let number = (followers.keys.max() ?? 0) + 1
                followers[number] = continuation
                return number
            }
            let task = Task {
                for await change in changes {
                    continuation.yield(Set(change.keys.compactMap(ItemKey.init(name:))))
                }
                continuation.finish()
            }
            continuation.onTermination = { [weak self] _ in
                task.cancel()
                _ = self?.followers.withLock { $0.removeValue(forKey: number) }
            }
        }
    }

    // MARK: Reading

    func entries() -> [ItemKey: LocalEntry] {
        decoded.withLock { decoded in
            var former: [String: (bytes: Data, entry: LocalEntry)] = [:]
            swap(&former, &decoded)
            var entries: [ItemKey: LocalEntry] = [:]
            for name in store.keys {
                guard let key = ItemKey(name: name), let bytes = store.data(forKey: name) else { continue }
                if let known = former[name], known.bytes == bytes {
                    decoded[name] = known
                } else if let entry = LocalEntry(encoded: bytes) {
                    decoded[name] = (bytes, entry)
                }
                entries[key] = decoded[name]?.entry
            }
            return entries
        }
    }

    func history(_ limits: HistoryLimits) -> ClipHistory { ClipHistory(items: entries().items, limits: limits) }

    /// A damaged one begins again.
    var state: HistoryState { (try? store.decode(HistoryState.self, forKey: Self.stateKey)) ?? HistoryState() }

    // MARK: Changing

    /// Changes the history as the only one of all processes.
    ///
    /// - Parameter change: changes history and state, and returns what is to be written.
    func change<Result>(
        _ limits: HistoryLimits,
        _ change: (inout ClipHistory, inout HistoryState) throws -> (ClipHistory.Changes, Result)
    ) throws -> Result {
        try exclusively { entries, state in
            var history = ClipHistory(items: entries.items, limits: limits)
            let (changes, result) = try change(&history, &state)
            entries.apply(changes, of: history)
            for (limit, count) in changes.overLimit { state.countDropped(limit.rawValue, count) }
            return result
        }
    }

    /// Changes entries and state as the only one of all processes, and writes what differs. Contents of removed items
    /// go too.
    func exclusively<Result>(
        _ change: (inout [ItemKey: LocalEntry], inout HistoryState) throws -> Result
    ) throws -> Result {
        let lock = try files.lock.lock()
        defer { lock.unlock() }
        try store.refresh()
        let (former, formerState) = (entries(), state)
        var (entries, state) = (former, formerState)
        let result = try change(&entries, &state)
        // What makes room is written first.
        var changed = Set(former.keys.filter { entries[$0] == nil })
        for key in changed { try store.write(nil, forKey: key.name) }
        for (key, entry) in entries where entry != former[key] {
            try store.write(.data(entry.encoded), forKey: key.name)
            changed.insert(key)
        }
        if state != formerState { try store.encode(state, forKey: Self.stateKey) }
        try ContentCache.remove(former.items.keys.filter { entries[$0]?.item == nil }, in: files.contents)
        if !changed.isEmpty || state != formerState {
            for follower in followers.withLock({ Array($0.values) }) { follower.yield(changed) }
        }
        return result
    }
}

extension LocalEntry {
    /// A byte that says what it is, then the item.
    fileprivate var encoded: Data {
        switch self {
        case .removed: return Data([0])
        case .dropped(let copied, let pinned):
            return withUnsafeBytes(
                of: (copied.milliseconds.littleEndian, pinned.milliseconds.littleEndian)
            ) { Data([3]) + $0 }
        case .item(let item, let isShared): return Data([isShared ? 2 : 1]) + item.encoded
        }
    }

    fileprivate init?(encoded bytes: Data) {
        switch bytes.first {
        case 0 where bytes.count == 1: self = .removed
        case 3 where bytes.count == 17:
            let numbers = bytes.dropFirst().withUnsafeBytes { bytes in
                [0, 8].map { bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self) }
            }
            self = .dropped(
                lastCopied: Timestamp(milliseconds: Int64(littleEndian: numbers[0])),
                pinChanged: Timestamp(milliseconds: Int64(littleEndian: numbers[1])))
        case 1, 2:
            // Nil if it is from a newer version, or damaged.
            guard let item = try? ClipItem(encoded: bytes.dropFirst()) else { return nil }
            self = .item(item, isShared: bytes.first == 2)
        default: return nil
        }
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded())) }
}

/// Where this machine's history and what belongs to it are: a private directory beside the replicas of stores.
struct ClipFiles: Sendable {
    var environment = StoreEnvironment()

    var directory: String { environment.dataDirectory + "/clip" }

    /// The directory of the store with the history of this machine.
    var history: String { directory + "/history" }

    /// Locked by whoever changes the history.
    var lock: LocalFile { LocalFile(directory + "/history") }

    /// Locked by the collector as long as it runs.
    var collector: LocalFile { LocalFile(directory + "/collector") }

    /// Contents that are too large for the history.
    var contents: LocalDirectory { LocalDirectory(directory + "/contents") }

    var settings: SettingsFile<DeviceSettings> { SettingsFile(environment.configDirectory + "/clip.json") }
}
