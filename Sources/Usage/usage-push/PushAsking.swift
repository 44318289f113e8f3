import Commands
import Essentials
import KVStoreEssentials
import LocalFiles
import SnapshotModels
import UsagePusher
import UsageState

/// Asks tools themselves for their limits, beside the pushes of `usage-push --watch`, as long as the user allows it.
struct PushAsking: Sendable {
    private let sink: StoreSink
    /// This machine's id.
    private let device: String
    private let asking: CodexAsking
    private let reads: AsyncStream<Void>
    private let read: AsyncStream<Void>.Continuation

    /// Seconds until the next look after a question, or after another process has asked.
    private static let recheck = 5.0
    /// Seconds until what other machines have asked is here, after a start or a sleep.
    private static let catchUp = 15.0

    init(sink: StoreSink, device: String, _ asking: CodexAsking) {
        self.sink = sink
        self.device = device
        self.asking = asking
        (reads, read) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Call it after each read and push; returns at once.
    func markRead() { read.yield() }

    /// Until the task is cancelled. Begins when what is on this machine is known.
    func run() async {
        for await _ in reads { break }
        let (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = SystemFileWatcher().events(for: [WatchedPath(PusherConfigurationFile().path)])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in reads { trigger.yield() } }
            group.addTask { for await _ in changes { trigger.yield() } }
            var timer: Task<Void, Never>?
            var (expected, complete) = (Date.distantPast, Date.distantPast)
            for await _ in triggers {
                timer?.cancel()
                // Commands say what is wrong with the file.
                let configuration = (try? PusherConfigurationFile().read())?.configuration
                guard let settings = configuration?.asking[CodexAsking.id] else { continue }
                if sink.credentials != nil, Date().timeIntervalSince(expected) > Self.catchUp {
                    complete = Date(timeIntervalSinceNow: Self.catchUp)
                }
                let rest = complete.timeIntervalSinceNow
                let seconds = rest > 0 ? rest : await askDue(settings)
                expected = Date(timeIntervalSinceNow: seconds)
                timer = Task {
                    guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }  // Cancelled.
                    trigger.yield()
                }
            }
            timer?.cancel()
            group.cancelAll()
        }
    }

    /// Returns the seconds until something may be due.
    private func askDue(_ settings: AskSettings) async -> TimeInterval {
        let usage = mergedUsage
        var wait: TimeInterval = 3_600
        for home in asking.homes {
            let now = Date()
            let due = asking.due(home, settings, usage: usage, device: device, at: now)
            if due <= now {
                await BlockingWork.run("asking") { asking.ask(home, settings, dueAt: due, isCancelled: $0) }
            }
            wait = min(wait, max(due.timeIntervalSince(now), Self.recheck))
        }
        return wait
    }

    private var mergedUsage: MergedUsage? {
        let values = sink.store.data { $0.hasPrefix(SyncedUsageSnapshot.storeKey) }
        return StoredUsage(values: values, decode: SnapshotCodec.decodeWithoutCosts)
            .data(link: .notJoined, at: Date(), devices: sink.listedDevices).usage
    }
}
