import Essentials
import KVStoreEssentials
import KVStoreHTTP
import KVStoreSealed

/// The history that the account's devices share, sealed on each of them. Calls block; any thread may make them.
final class SharedHistory: Sendable {
    static let storeName = "clip"

    private let keys: UbiquitousKeyValueStore
    private let store: UbiquitousKeyValueStore
    private let account: SealedAccount
    private let sealed: SealedStore
    /// The directory of the replicas of the account.
    let accountDirectory: String

    /// Opens the history of the joined account.
    ///
    /// - Parameter isLive: whether changes by others arrive as they happen.
    /// - Throws: `noContentKey` on a device without one, `unauthorized` without an account.
    init(_ environment: StoreEnvironment, isLive: Bool) throws(StoreError) {
        guard let credentials = try environment.credentials() else {
            throw StoreError(
                .unauthorized, operation: "share", subject: "the history",
                reason: "no account has been joined", hint: "run " + StoreError.rejoining)
        }
        accountDirectory = environment.accountDirectory(credentials)
        func open(_ name: String) throws(StoreError) -> UbiquitousKeyValueStore {
            // The store stays with this account when the device joins another one.
            var configuration = environment.configuration(of: credentials, storeNamed: name, isLive: isLive)
            configuration.isWatched = isLive
            return try UbiquitousKeyValueStore(configuration: configuration)
        }
        keys = try open(SealedAccount.storeName)
        store = try open(Self.storeName)
        account = SealedAccount(keys)
        sealed = try SealedStore(store, of: account)
    }

    /// Whether this device has the account's content key, after asking the daemon.
    func receiveContentKey() async throws(StoreError) -> Bool {
        _ = try? await keys.synchronizeNow(within: .seconds(10))  // The status below says what is known.
        return try account.status().current != nil
    }

    func close() {
        store.close()
        keys.close()
    }

    /// Which items others have changed; nil for any. Each call returns a new stream.
    var changes: AsyncStream<Set<ItemKey>?> {
        let (items, keys) = (sealed.changes, keys.changes)
        return AsyncStream { continuation in
            let tasks = [
                Task {
                    for await change in items {
                        continuation.yield(Set(change.keys.compactMap(ItemKey.init(name:))))
                    }
                    continuation.finish()
                },
                // A new content key opens what could not be opened.
                Task { for await _ in keys { continuation.yield(nil) } },
            ]
            continuation.onTermination = { _ in for task in tasks { task.cancel() } }
        }
    }

    /// Sends and receives everything.
    func synchronize(within limit: Duration) async throws(StoreError) -> SyncReport {
        try await keys.synchronizeNow(within: limit)
        return try await store.synchronizeNow(within: limit)
    }

    // MARK: Reconciling

    /// What keeps items from being shared; they stay where they are.
    struct Problems {
        /// Values that cannot be opened, or are no items.
        var unreadable: [StoreError] = []
        /// Items of this machine that do not fit.
        var unsharedCount = 0
        /// Whether items were left out that may be missing, or may not have been received yet.
        var isIncomplete = false

        /// In words; nil without any.
        var text: String? {
            var lines: [String] = []
            if let first = unreadable.first {
                let others = unreadable.count - 1
                lines.append("\(first)" + (others > 0 ? " (and \(others) others)" : ""))
            }
            if unsharedCount > 0 {
                lines.append("\(unsharedCount.items) on this machine only: pinned ones leave no room")
            }
            return lines.isEmpty ? nil : lines.joined(separator: "\n")
        }
    }

    /// Reconciles the history of this machine with the shared one.
    ///
    /// - Parameter only: which items; nil for all.
    func reconcile(_ history: HistoryStore, _ limits: HistoryLimits, only: Set<ItemKey>? = nil) throws -> Problems {
        var problems = Problems()
        try history.exclusively { entries, state in
            // Turned off, or for another account.
            guard state.sharedWith == accountDirectory else { return }
            let found = read(only ?? Set(entries.keys), isAll: only == nil, &problems)
            for (key, shared) in found {
                let outcome = Reconciliation(entries[key], shared)
                do throws(StoreError) {
                    if outcome.shared != shared {
                        try write(outcome.shared, key, &entries, limits)
                    }
                    if case .item(_, isShared: true)? = entries[key], outcome.local == nil {
                        state.countDropped(HistoryState.droppedElsewhere, 1)
                    }
                    entries[key] = outcome.local
                } catch {
                    guard [.quotaExceeded, .tooManyKeys].contains(error.code) else { throw error }
                    problems.unsharedCount += 1
                }
            }
        }
        return problems
    }

    /// What the shared history has of items. Those that cannot be opened are left out, and so are missing ones as long
    /// as it is not certain that they are missing.
    private func read(_ keys: Set<ItemKey>, isAll: Bool, _ problems: inout Problems) -> [ItemKey: ClipItem?] {
        var found: [ItemKey: ClipItem?] = [:]
        var values: [String: PropertyListValue] = [:]
        do throws(StoreError) {
            if isAll {
                let contents = try sealed.contents()
                values = contents.values
                problems.unreadable += contents.problems
            } else {
                for key in keys { values[key.name] = try sealed.propertyList(forKey: key.name) }
            }
        } catch {
            problems.unreadable.append(error)
            return [:]
        }
        for (name, value) in values {
            guard let key = ItemKey(name: name) else { continue }
            do {
                guard case .data(let bytes) = value else { throw ItemFormatError.damaged("not data") }
                found[key] = try ClipItem(encoded: bytes)
            } catch {
                problems.unreadable.append(
                    StoreError(
                        .invalidValue, operation: "read", subject: "a shared item",
                        reason: "\(error)", hint: "update this program"))
            }
        }
        // What cannot be opened may be one of these.
        let isComplete = problems.unreadable.isEmpty && store.status.initialSyncCompleted
        for key in keys where found[key] == nil && values[key.name] == nil {
            if isComplete { found[key] = .some(nil) } else { problems.isIncomplete = true }
        }
        return found
    }

    /// Writes an item or removes it. If there is no room for it, what is copied longest ago goes.
    private func write(
        _ item: ClipItem?, _ key: ItemKey, _ entries: inout [ItemKey: LocalEntry], _ limits: HistoryLimits
    ) throws(StoreError) {
        let value = item.map { PropertyListValue.data($0.encoded) }
        do throws(StoreError) {
            try sealed.write(value, forKey: key.name)
        } catch {
            guard [.quotaExceeded, .tooManyKeys].contains(error.code) else { throw error }
            var history = ClipHistory(items: entries.items, limits: limits)
            for old in history.trim().dropped {
                if case .item(_, isShared: true) = entries[old] {
                    try sealed.write(nil, forKey: old.name)
                }
                entries[old] = nil
            }
            guard entries[key] != nil else { return }
            try sealed.write(value, forKey: key.name)
        }
    }
}
