import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import Synchronization

/// Shares the history as it changes, as long as the collector runs.
final class SharingLoop: Sendable {
    private let store: HistoryStore
    private let lastReport = Mutex("")

    /// From a failure to the next try.
    private static let retryInterval = Duration.seconds(30)

    private enum Event: Sendable {
        /// Items of this machine; none if only the state has changed.
        case local(Set<ItemKey>)
        /// Items of the shared history; nil for any.
        case shared(Set<ItemKey>?)
        case retry
    }

    /// - Parameter store: one that is watched.
    init(_ store: HistoryStore) { self.store = store }

    /// Until the task is cancelled.
    func run() async {
        let (events, inbox) = AsyncStream.makeStream(of: Event.self)
        // With the settings of other machines.
        let preferences = try? UbiquitousKeyValueStore.open(  // Those of this machine hold.
            storeNamed: SyncedPreferences.storeName, environment: store.files.environment)
        defer { preferences?.close() }
        let changes = store.changes
        let connections = preferences?.connectionChanges
        await withDiscardingTaskGroup { group in
            group.addTask {
                // The daemon can be reached again, or another account has been joined.
                guard let connections, let preferences else { return }
                var isKnown = false
                for await connection in connections {
                    if connection == .connected { isKnown = false }
                    if case .offline = connection, !isKnown {
                        isKnown = true
                        await self.reportRemoval(preferences)
                    }
                    inbox.yield(.retry)
                }
            }
            group.addTask {
                for await keys in changes { inbox.yield(.local(keys)) }
            }
            group.addTask {
                await self.handle(events, inbox)
                inbox.finish()
            }
            inbox.yield(.retry)
        }
    }

    /// Says so if the daemon does not know this device any longer, which is otherwise like being offline.
    private func reportRemoval(_ preferences: UbiquitousKeyValueStore) async {
        do throws(StoreError) {
            try await preferences.synchronizeNow(within: .seconds(2))
        } catch {
            guard error.code == .unauthorized else { return }
            report("not shared: " + error.reason)
        }
    }

    private func handle(_ events: AsyncStream<Event>, _ inbox: AsyncStream<Event>.Continuation)
        async
    {
        var session: (history: SharedHistory, pump: Task<Void, Never>)?
        var retry: Task<Void, Never>?
        /// Whether items besides those of the next event are to be looked at.
        var isBehind = false
        func end() {
            session?.pump.cancel()
            session?.history.close()
            session = nil
        }
        defer {
            end()
            retry?.cancel()
        }
        for await event in events {
            guard !Task.isCancelled else { return }
            do {
                guard let directory = store.state.sharedWith else {
                    end()
                    continue
                }
                let environment = store.files.environment
                guard try environment.accountDirectory(environment.credentials()) == directory else {
                    end()
                    report("not shared: this machine has joined another account, or none, since")
                    continue
                }
                if session?.history.accountDirectory != directory { end() }
                var isComplete = true
                if let session {
                    switch event {
                    case .local(let keys):
                        if keys.isEmpty { continue }
                        isComplete = try reconcile(session.history, isBehind ? nil : keys)
                    case .shared(let keys):
                        let former = newest
                        isComplete = try reconcile(session.history, isBehind ? nil : keys)
                        try follow(former)
                    case .retry: isComplete = try reconcile(session.history, nil)
                    }
                } else {
                    let history = try SharedHistory(store.files.environment, isLive: true)
                    let changes = history.changes
                    session = (history, Task { for await keys in changes { inbox.yield(.shared(keys)) } })
                    isComplete = try reconcile(history, nil)
                }
                isBehind = !isComplete
            } catch {
                isBehind = true
                report("not shared: \((error as? StoreError)?.description ?? "\(error)")")
            }
            if isBehind {
                retry?.cancel()
                retry = Task {
                    if (try? await Task.sleep(for: Self.retryInterval)) != nil {  // Nil when it is cancelled.
                        inbox.yield(.retry)
                    }
                }
            }
        }
    }

    /// - Returns: whether all of these items could be looked at.
    private func reconcile(_ history: SharedHistory, _ keys: Set<ItemKey>?) throws -> Bool {
        let settings = try ClipSettings.read(SyncedPreferences(environment: store.files.environment))
        let problems = try history.reconcile(store, settings.limits, only: keys)
        if let text = problems.text {
            report(text)
        } else {
            lastReport.withLock { $0 = "" }
        }
        return problems.unsharedCount == 0 && !problems.isIncomplete
    }

    /// Once, until something else happens.
    private func report(_ text: String) {
        let isNew = lastReport.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew { Console.report(text) }
    }

    // MARK: Following other machines

    /// How long after a copy here that of another machine does not replace it, in milliseconds.
    private static let ownCopyMilliseconds: Int64 = 2_000

    private var newest: (key: ItemKey, item: ClipItem)? {
        store.entries().items.max { $0.value.lastCopied < $1.value.lastCopied }.map { ($0.key, $0.value) }
    }

    /// Copies the newest item to this machine's clipboard, if that is wanted and another machine has copied it since.
    private func follow(_ former: (key: ItemKey, item: ClipItem)?) throws {
        let device = try DeviceSettings.read(store.files)
        guard device.follows, let (key, item) = newest,
            former.map({ $0.item.lastCopied < item.lastCopied }) ?? true
        else { return }
        if let own = store.state.lastCopy,
            (0...Self.ownCopyMilliseconds).contains(Timestamp.now.milliseconds(since: own))
        {
            return
        }
        let environment = SessionEnvironment.present(ProcessInfo.processInfo.environment)
        let copier = Copier(
            store: store, settings: ClipSettings(), device: device, writer: ClipboardWriter(environment: environment))
        do {
            try copier.place(key)
        } catch {
            report("the newest copy of another machine is not in this clipboard: \(error)")
        }
    }
}
