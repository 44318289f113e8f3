import Foundation
import Testing

@testable import UsagePusher

@Suite("Pace of reading")
struct ReadPaceTests {
    @Test("what is written all the time is read once in its interval, and after a quiet time at once")
    func intervals() {
        var pace = ReadPace(interval: 2)
        #expect(pace.wait(at: 100) == 0)
        pace.read(at: 100)
        #expect(pace.wait(at: 100.5) == 1.5)
        #expect(pace.wait(at: 102) == 0)
        #expect(pace.wait(at: 500) == 0)
        #expect(ReadPace(interval: 0).wait(at: 1) == 0)
    }

    @Test("a database that is written every 50 ms is read at most once in 2 s, a log beside it still at once")
    func database() {
        var plan = PushPlan(at: .zero)
        var pace = ReadPace(interval: 2)
        var reads: [Duration] = []
        #expect(plan.next(at: .zero) == .readAll)
        pace.read(at: 0)
        plan.readEnded(nil, at: .zero)
        for step in 1...400 {
            let now = Duration.milliseconds(50 * step)
            let seconds = 0.05 * Double(step)
            plan.filesChanged(due: now + .seconds(pace.wait(at: seconds)))
            guard plan.next(at: now) == .readChanged else { continue }
            plan.readEnded(nil, at: now)
            let wait = pace.wait(at: seconds)
            if wait > 0 {
                plan.filesChanged(due: now + .seconds(wait))
            } else {
                pace.read(at: seconds)
                reads.append(now)
            }
        }
        #expect(reads.count >= 9)
        #expect(zip(reads, reads.dropFirst()).allSatisfy { $1 - $0 >= .seconds(2) })
        plan.filesChanged(due: .seconds(1_000))
        plan.filesChanged()
        #expect(plan.next(at: .seconds(21)) == .readChanged)
    }

    /// Counts its reads.
    private struct CountingSource: UsageSource {
        let providerID: String
        let providerName = "Counting"
        let readInterval: Double
        let count: Counter

        final class Counter: @unchecked Sendable { var value = 0 }

        func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
            [WatchedPath("/" + providerID)]
        }

        func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
            count.value += 1
            return SourceReading(isInstalled: false)
        }
    }

    @Test("a change that comes too early is postponed with the seconds that are left, those of other sources are not")
    func builder() {
        let clock = CountingSource.Counter()
        let database = CountingSource(providerID: "database", readInterval: 2, count: .init())
        let log = CountingSource(providerID: "log", readInterval: 0, count: .init())
        var environment = SourceEnvironment(home: "/home/dev")
        environment.monotonicSeconds = { Double(clock.value) }
        var builder = SnapshotBuilder(
            sources: [database, log], environment: environment, device: DeviceIdentity(id: nil, name: "test"))
        builder.readAll(at: sampleNow)
        clock.value = 1
        let paths: Set = [WatchedPath("/database"), WatchedPath("/log")]
        let postponed = builder.read(changed: paths, at: sampleNow)
        #expect(postponed == .init(paths: [WatchedPath("/database")], seconds: 1))
        #expect((database.count.value, log.count.value) == (1, 2))
        clock.value = 2
        #expect(builder.read(changed: paths, at: sampleNow) == nil)
        #expect(database.count.value == 2)
    }
}
