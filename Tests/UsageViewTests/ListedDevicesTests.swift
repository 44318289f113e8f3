import Foundation
import KVStoreWire
import SnapshotModels
import Testing
import UsageState

@Suite("The devices of the account and what they have pushed")
struct ListedDevicesTests {
    @Test("a device has the daemon's name, and its host's only where there is none")
    func names() throws {
        let machines = try SeveralMachines()
        func names(_ listed: ListedDevices?) -> [[String]] {
            let model = machines.model(listed)
            let providers = model.providers.sorted { $0.id < $1.id }
            return [model.devices.map(\.name)] + providers.map(\.deviceNames)
                + providers.map { $0.cost?.parts.map(\.device) ?? [] }
        }
        #expect(names(machines.listed) == [["attic", "desk"], ["attic", "desk"], ["attic", "desk"]])
        #expect(
            names(nil) == [
                ["attic.lan", "ip-10-0-0-7", "ip-10-0-0-9"], ["attic.lan", "ip-10-0-0-7"],
                ["ip-10-0-0-9"], ["attic.lan", "ip-10-0-0-7"], [],
            ])
    }

    @Test("a device that the daemon does not list is removed, unless it has pushed since then")
    func removed() throws {
        var machines = try SeveralMachines()
        #expect(machines.model(machines.listed).providers.map(\.cost?.last30Days.costUSD) == [83])
        machines.listedAt -= 120
        #expect(machines.model(machines.listed).providers.count == 2)
        // Nobody is left but the removed one, which is in the view of all devices too.
        machines.listedAt += 120
        for id in ["a", "b"] { machines.values[SyncedUsageSnapshot.storeKey(deviceID: id)] = nil }
        #expect(machines.model(machines.listed).situation == .waitingForFirstPush)
        #expect(machines.model(nil).providers.count == 1)
    }

    @Test("agents of a removed machine wait no more")
    func waits() throws {
        var machines = try SeveralMachines()
        let now = SeveralMachines.now
        for id in ["A", "C", "another"] {
            machines.values[GateWaits.storeKey(deviceID: id)] =
                GateWaits([
                    GateWaits.Wait(
                        tool: "codex", limit: "Codex Weekly", since: now.addingTimeInterval(-60),
                        until: now.addingTimeInterval(60))
                ]).data
        }
        #expect(machines.model(machines.listed).pausedAgents.map(\.deviceID) == ["a", "another"])
        #expect(machines.model(nil).pausedAgents.map(\.deviceID) == ["a", "another", "c"])
    }

    @Test("what a removed device has recorded stays until it is forgotten, and then nothing is left")
    func forgotten() throws {
        var machines = try SeveralMachines()
        let recorded = machines.data(machines.listed).history.windows.keys.map(\.account)
        #expect(recorded.contains("gone@example.test"))

        let all = ForgottenDevice.all(in: machines.values, listed: machines.listed)
        #expect(all.map(\.id) == ["c"])
        #expect(["C", "9", "ip-10-0-0-9"].allSatisfy { all[0].isCalled($0) })
        for (key, value) in try all[0].changes(in: machines.values, now: SeveralMachines.now) {
            machines.values[key] = value
        }
        let left = machines.values.map { "\($0.key) \(String(decoding: $0.value, as: UTF8.self))" }
        for text in ["gone@example.test", "ip-10-0-0-9", ".c "] {
            #expect(!left.contains { $0.contains(text) }, "\(text)")
        }
        #expect(machines.values.count == 7)
        #expect(machines.model(nil).providers.map(\.cost?.last30Days.costUSD) == [83])
        let shared = SnapshotCodec.read(machines.values[SyncedUsageSnapshot.storeKey])
        #expect(shared?.providers.map(\.accountEmail) == ["dev@example.test"])
    }

    @Test("the last device takes the view of all devices with it, and no other program's value")
    func forgottenLast() throws {
        var machines = try SeveralMachines()
        machines.values = machines.values.filter { $0.key.hasSuffix(".c") || $0.key == SyncedUsageSnapshot.storeKey }
        let device = try #require(ForgottenDevice.all(in: machines.values, listed: machines.listed).first)
        let changes = try device.changes(in: machines.values, now: SeveralMachines.now)
        #expect(Set(changes.keys) == Set(machines.values.keys))
        #expect(changes.values.allSatisfy { $0 == nil })

        // A phone's program that knows only the shared key.
        machines.values[SyncedUsageSnapshot.storeKey] = try SnapshotCodec.encode(
            SyncedUsageSnapshot(providers: [], syncTimestamp: SeveralMachines.now, deviceName: "Mac"))
        let own = try device.changes(in: machines.values, now: SeveralMachines.now)
        #expect(own[SyncedUsageSnapshot.storeKey] == nil && own.count == 3)
    }

    @Test("a device of the account is not forgotten, and one without the daemon's id may be")
    func notForgotten() throws {
        let machines = try SeveralMachines()
        let without = ForgottenDevice.all(in: machines.values, listed: ListedDevices([], listedAt: SeveralMachines.now))
        #expect(without.map(\.id) == ["b", "a", "c"])
        var later = machines
        later.listedAt -= 120
        #expect(ForgottenDevice.all(in: later.values, listed: later.listed).isEmpty)
        #expect(ForgottenDevice.all(in: machines.values, listed: nil).count == 3)
    }

    @Test("a history is that of the card which its device shows, and never of another plan's")
    func histories() throws {
        /// The accounts of the past and the percentage of each card's history.
        func shown(_ cards: [(account: String?, plan: String?)]) throws -> [String: Double] {
            var machines = try SeveralMachines()
            machines.values = [:]
            for (index, card) in cards.enumerated() {
                try machines.push(
                    "\(index)", host: "host \(index)", daemonID: nil, account: card.account,
                    plan: card.plan, Double(10 + index))
            }
            let model = machines.model(nil)
            return Dictionary(
                uniqueKeysWithValues: model.providers.map { provider in
                    let past = provider.windows[0].history
                    return (provider.id, past?.last.level.percent ?? -1)
                }
            ).merging(
                model.data.history.windows.map { (($0.key.account ?? "nobody"), $0.value) }
                    .map { ("past of " + $0, $1.last.level.percent) }
            ) { $1 }
        }
        #expect(
            try shown([("dev", "Plus"), (nil, "Business")]) == [
                "codex\tdev": 10, "codex\t": 11, "past of dev": 10, "past of nobody": 11,
            ])
        #expect(try shown([("dev", "Plus"), (nil, "Plus")]) == ["codex\tdev": 11, "past of dev": 11])
        #expect(
            try shown([("dev", "Plus"), ("dev", "Business")]) == [
                "codex\tdev (plus)": 10, "codex\tdev (business)": 11, "past of dev (plus)": 10,
                "past of dev (business)": 11,
            ])
    }
}
