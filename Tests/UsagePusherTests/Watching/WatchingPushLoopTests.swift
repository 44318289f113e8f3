import Foundation
import SnapshotModels
import Synchronization
import Testing

@testable import UsagePusher

@Suite("Push loop with real files", .timeLimit(.minutes(5)))
struct WatchingPushLoopTests {
    private final class Reports: Sendable {
        let stream: AsyncStream<PushReport>
        private let continuation: AsyncStream<PushReport>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func add(_ report: PushReport) { continuation.yield(report) }
    }

    private func loop(
        _ directory: WatchedDirectory, sink: MemorySink, reports: Reports,
        timing: PushPlan.Timing = .init(), date: @escaping @Sendable () -> Date = { Date() }
    ) -> PushLoop {
        PushLoop(
            builder: SnapshotBuilder(
                sources: [
                    PercentSource("codex", path: directory.at("codex")),
                    PercentSource("claude", path: directory.at("claude")),
                ],
                environment: SourceEnvironment(home: directory.path),
                device: DeviceIdentity(id: "1", name: "desk")),
            sink: sink, watcher: SystemFileWatcher(limits: .quick), timing: timing,
            date: date, report: { reports.add($0) })
    }

    @Test("every change of a file is pushed, and cancellation ends the loop")
    func changes() async throws {
        let directory = try WatchedDirectory()
        let sink = MemorySink()
        let reports = Reports()
        var timing = PushPlan.Timing()
        timing.pushRate.interval = .milliseconds(50)
        let loop = loop(directory, sink: sink, reports: reports, timing: timing)
        let task = Task { await loop.run() }
        var seen = reports.stream.makeAsyncIterator()
        #expect(await seen.next() == .empty)
        for percent in [10.0, 20, 30] {
            try directory.replace(directory.at("codex"), with: "\(percent)")
            guard case .pushed(let snapshot, .change, _) = await seen.next() else {
                Issue.record("no push")
                return
            }
            #expect(snapshot.providers.map(\.primary?.usedPercent) == [percent])
            #expect(sink.snapshot()?.providers == snapshot.providers)
        }
        try directory.replace(directory.at("claude"), with: "5")
        guard case .pushed(let both, .change, _) = await seen.next() else {
            Issue.record("no push")
            return
        }
        #expect(both.providers.map(\.providerID) == ["codex", "claude"])
        task.cancel()
        await task.value
    }

    @Test("a failed push is reported and retried")
    func failure() async throws {
        let directory = try WatchedDirectory()
        let sink = MemorySink()
        sink.refuseNext(2)
        let reports = Reports()
        try directory.replace(directory.at("codex"), with: "10")
        var timing = PushPlan.Timing()
        timing.retryDelay = .milliseconds(10)
        let loop = loop(directory, sink: sink, reports: reports, timing: timing)
        let task = Task { await loop.run() }
        var failures = 0
        for await report in reports.stream {
            if case .failed = report { failures += 1 }
            if case .pushed = report { break }
        }
        #expect(failures == 2)
        task.cancel()
        await task.value
    }

    @Test("a heartbeat pushes the same numbers with a new time")
    func heartbeat() async throws {
        let directory = try WatchedDirectory()
        let sink = MemorySink()
        let reports = Reports()
        try directory.replace(directory.at("codex"), with: "10")
        var timing = PushPlan.Timing()
        timing.heartbeat = .milliseconds(20)
        timing.pushRate.interval = .milliseconds(1)
        timing.readRate.interval = .milliseconds(1)
        // The machine's clock may be set back, or be too coarse for two pushes.
        let seconds = Mutex(1_789_732_800.0)
        let loop = loop(directory, sink: sink, reports: reports, timing: timing) {
            seconds.withLock { seconds in
                seconds += 1
                return Date(timeIntervalSince1970: seconds)
            }
        }
        let task = Task { await loop.run() }
        var pushes: [(SyncedUsageSnapshot, PushPlan.Reason)] = []
        for await case .pushed(let snapshot, let reason, _) in reports.stream {
            pushes.append((snapshot, reason))
            if pushes.count == 4 { break }
        }
        task.cancel()
        await task.value
        let beats = pushes.filter { $0.1 == .heartbeat }
        #expect(!beats.isEmpty)
        #expect(
            zip(pushes, pushes.dropFirst()).allSatisfy {
                $1.0.syncTimestamp > $0.0.syncTimestamp
            })
    }
}
