import ClockZones
import Foundation
import TestSupport
import SnapshotModels
import Synchronization
import Testing
@testable import usage_push
import UsagePusher
import UsageState

@Suite("Following a store for alerts", .temporaryHome, .timeLimit(.minutes(1)))
struct AlertLoopTests {
    /// A store in memory whose third write fails, and what the loop writes and says, in order.
    private final class Store: AlertStore {
        private let values = Mutex<[String: Data]>([:])
        private let writeCount = Mutex(0)
        let events: AsyncStream<String>
        let event: AsyncStream<String>.Continuation

        init() { (events, event) = AsyncStream.makeStream() }

        var link: UsageData.Link { .notJoined }
        var devices: ListedDevices? { nil }

        func values(where isIncluded: (String) -> Bool) -> [String: Data] {
            values.withLock { $0.filter { isIncluded($0.key) } }
        }

        func write(_ notice: AlertNotice, deviceID: String) throws {
            let number = writeCount.withLock { count in
                count += 1
                return count
            }
            guard number != 3 else { throw CocoaError(.fileWriteOutOfSpace) }
            set(AlertNotice.storeKey(deviceID: deviceID), notice.data)
            event.yield("notice of \(notice.delivered.count)")
        }

        func push(used: Double, at now: Date) throws {
            for tool in ["claude", "codex"] {
                var scene = UsageScene(now: now, provider: tool, used: used)
                (scene.device, scene.deviceID) = (tool, tool)
                set(SyncedUsageSnapshot.storeKey(deviceID: tool), try SnapshotCodec.encode(scene.snapshot))
            }
        }

        func set(_ key: String, _ value: Data) { values.withLock { $0[key] = value } }
    }

    @Test("a paused agent and a budget of the account are seen, and not only snapshots")
    func keys() throws {
        let (store, now) = (Store(), UsageScene.noon + 60)
        try store.push(used: 10, at: now)
        let wait = GateWaits.Wait(tool: "claude", limit: "Claude Weekly", since: now, until: now + 600)
        store.set(GateWaits.storeKey(deviceID: "desk"), try #require(GateWaits([wait]).data))
        let budget = Budget(5, per: .month)
        store.set(budget.storeKey, budget.data)
        let model = store.input(at: now, zone: .gmt, uptime: 0).model
        #expect(model.pausedAgents.map(\.limit) == ["Claude Weekly"] && model.data.budgets == [budget])
    }

    @Test("the others know of an alert before the next is delivered, also after a failed write")
    func notices() async throws {
        let (home, store) = (TemporaryHome.ofTest, Store())
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        var settings = AlertSettings()
        settings.command = ["true"]
        settings.rules.runsOut = false
        let configuration = AlertLoop.Configuration(
            settings: settings, targets: AlertTargets(settings, AlertSecrets(), variables: ["PATH": "/usr/bin:/bin"]))
        let loop = AlertLoop(
            store: store, storeName: "store", deviceID: "desk",
            file: AlertJournalFile(SourceEnvironment(home: home.path)),
            zone: .fixed(secondsFromGMT: 0), date: { UsageScene.noon + 60 },
            configuration: { configuration },
            report: { report in
                switch report {
                case .note(let text), .issue(let text): store.event.yield(text)
                }
            })
        try store.push(used: 40, at: UsageScene.noon)
        let running = Task { await loop.run(changes) }
        var events = store.events.makeAsyncIterator()
        #expect(await events.next() == "notice of 0")
        #expect(await events.next() == "alerts go to command")
        try store.push(used: 60, at: UsageScene.noon + 30)
        change.yield()
        #expect(await events.next() == "alert: Claude · Session (5h): 60 % used")
        #expect(await events.next() == "notice of 1")
        #expect(await events.next() == "alert: Codex · Session (5h): 60 % used")
        #expect(await events.next()?.hasPrefix("cannot publish the alert notice: ") == true)
        change.yield()
        #expect(await events.next() == "notice of 2")
        running.cancel()
        await running.value
    }
}
