import Foundation
import SnapshotModels
import Testing
import UsageState

@testable import usage_view

@Suite("The presence of a device")
struct DevicePresenceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let server: ServerPresence
        let age: Double?
        let shown: DevicePresence
        var testDescription: String { "\(server), \(age.map { "\($0) s" } ?? "none")" }
    }

    /// The normative table: what the daemon says, and the age of the last push.
    static let table: [Row] = [
        Row(server: .connected, age: nil, shown: .online),
        Row(server: .connected, age: 0, shown: .online),
        Row(server: .connected, age: 299, shown: .online),
        Row(server: .connected, age: -3_600, shown: .online),
        Row(server: .connected, age: 300, shown: .notReporting),
        Row(server: .notConnected(lastSeen: nil), age: nil, shown: .offline),
        Row(server: .notConnected(lastSeen: Sample.now), age: 0, shown: .offline),
        Row(server: .notConnected(lastSeen: Sample.now), age: 9_000, shown: .offline),
        Row(server: .unreachable, age: 0, shown: .active),
        Row(server: .unreachable, age: 299, shown: .active),
        Row(server: .unreachable, age: -60, shown: .active),
        Row(server: .unreachable, age: 300, shown: .stale),
        Row(server: .unreachable, age: nil, shown: .unknown),
        Row(server: .unreachable, age: -61, shown: .clockAhead),
        Row(server: .notAsked, age: nil, shown: .unchecked),
        Row(server: .notAsked, age: 0, shown: .unchecked),
        Row(server: .notAsked, age: 300, shown: .unchecked),
        Row(server: .notAsked, age: -61, shown: .unchecked),
    ]

    @Test("the connection counts, then the last push", arguments: table)
    func row(row: Row) { #expect(DevicePresence(server: row.server, heartbeatAge: row.age) == row.shown) }

    @Test("every presence is in the table, with a word of its own")
    func words() {
        #expect(Set(Self.table.map(\.shown)) == Set(DevicePresence.allCases))
        #expect(Set(DevicePresence.allCases.map(\.word)).count == DevicePresence.allCases.count)
    }

    @Test("a device of the daemon is the pusher of the same name, if only one has it")
    func names() throws {
        let usage = try Sample.model("busy-box", "busy-laptop")
        let rows = DevicesSection.cards(LiveSample.model(usage))
        #expect(rows.map(\.name) == ["box", "laptop", "phone"])
        #expect(rows.map { $0.presence.value(at: Sample.now) } == [.online, .offline, .offline])
        let twice = LiveSample.model(usage) {
            $0.server = .known([
                KnownDevice(id: "1", name: "BOX", isConnected: true, lastSeen: nil),
                KnownDevice(id: "2", name: "box", isConnected: false, lastSeen: nil),
            ])
        }
        #expect(DevicesSection.cards(twice).map { $0.presence.value(at: Sample.now) } == [.active, .stale])
        let unasked = LiveSample.model(usage) { $0.server = .notAsked }
        #expect(DevicesSection.cards(unasked).map { $0.presence.value(at: Sample.now) } == [.unchecked, .unchecked])
    }

    @Test("a push with the daemon's id is that device's, and never another one's of its name")
    func ids() throws {
        func pushed(_ id: String, _ daemonID: String?, secondsAgo: Double = 0) -> DeviceState {
            let snapshot = SyncedUsageSnapshot(
                providers: [], syncTimestamp: Sample.now.addingTimeInterval(-secondsAgo),
                deviceName: "host", deviceID: id, daemonDeviceID: daemonID)
            let merged = SnapshotMerge.merge([snapshot], now: Sample.now)
            return DeviceState(merged.devices[0], isOnline: true, now: Sample.now)
        }
        func known(_ id: String, _ name: String) -> KnownDevice {
            KnownDevice(id: id, name: name, isConnected: true, lastSeen: nil)
        }
        func shown(_ pushed: [DeviceState], _ known: KnownDevice...) -> [String] {
            DeviceCard.list(pushed, .known(known)).map { "\($0.name) \($0.pushed?.id ?? "-") \($0.known?.id ?? "-")" }
        }
        let (a, b) = (known("1", "desk"), known("2", "host"))
        #expect(shown([pushed("a", "1"), pushed("b", "2")], a, b) == ["desk a 1", "host b 2"])
        #expect(shown([pushed("a", "1"), pushed("b", nil)], a, b) == ["desk a 1", "host b 2"])
        #expect(shown([pushed("a", "1")], a, b) == ["desk a 1", "host - 2"])
        // The daemon has removed it.
        #expect(shown([pushed("a", "3")], b) == ["host a -", "host - 2"])
        // A device that has pushed under two identities.
        #expect(shown([pushed("a", "1", secondsAgo: 9), pushed("b", "1")], a) == ["desk b 1"])
        #expect(DeviceCard.list([pushed("a", "1")], .unreachable).map(\.name) == ["host"])
    }
}
