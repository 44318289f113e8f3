import Commands
import Essentials
import KVStoreHTTP

/// Removes items when their time is over, as long as the collector runs. Lists leave them out in any case.
struct ExpiryLoop: Sendable {
    /// One that is watched.
    let store: HistoryStore

    /// For a setting of another machine, which changes no item.
    private static let longestSleep: TimeInterval = 3_600

    /// Until the task is cancelled.
    func run() async {
        let (events, inbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = store.changes
        let following = Task { for await _ in changes { inbox.yield() } }
        var timer: Task<Void, Never>?
        defer {
            following.cancel()
            timer?.cancel()
        }
        inbox.yield()
        await withTaskCancellationHandler {
            for await _ in events {
                var seconds = Self.longestSleep
                do {
                    if let next = try removeExpired() { seconds = min(seconds, next) }
                } catch {
                    Console.report("expired items are not removed: \(error)")
                }
                timer?.cancel()
                let end = Date().addingTimeInterval(seconds)
                timer = Task {
                    await WallClock.sleep(until: end)
                    if !Task.isCancelled { inbox.yield() }
                }
            }
        } onCancel: {
            inbox.finish()
        }
    }

    /// - Returns: in how many seconds the next item expires; nil if none does.
    private func removeExpired() throws -> TimeInterval? {
        let settings = try ClipSettings.read(SyncedPreferences(environment: store.files.environment))
        guard let age = settings.expiry.milliseconds else { return nil }
        let now = Timestamp.now
        var history = store.history(settings.limits)
        if !history.expire(settings.expiry, at: now).isEmpty {
            try store.change(settings.limits) { history, _ in (history.expire(settings.expiry, at: now), ()) }
            history = store.history(settings.limits)
        }
        let oldest = history.items.values.filter { !$0.isPinned }.map(\.lastCopied).min()
        return oldest.map { Self.seconds(until: age, after: $0, at: now) }
    }

    /// Expired is what is older than that, and not as old. The time of an item is by any clock: in floating point
    /// nothing overflows.
    static func seconds(until age: Int64, after last: Timestamp, at now: Timestamp) -> TimeInterval {
        (Double(age) - Double(now.milliseconds(since: last)) + 1) / 1_000
    }
}
