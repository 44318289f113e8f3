import ClockZones
import Foundation
import ServerTestSupport
import StoreTestSupport
import Testing
@testable import UsageState

@testable import KVStoreServer
@testable import UsageServer

@Suite("The daemon beside other machines that warn", .timeLimit(.minutes(2)))
struct SeveralMachinesTests {
    /// One that runs `usage-push --watch`, with the decisions of the real one and the test's time.
    private struct Machine {
        var watch = AlertWatch(deviceID: "0000-desk")
        let daemon: NotificationDaemon

        /// - Returns: the titles of what it delivers.
        mutating func look(uptime: Double) async throws -> [String] {
            let zone = ClockZone.fixed(secondsFromGMT: 0)
            let output = watch.step(
                AlertWatch.Input(
                    values: try await daemon.values(), link: .online, now: Date(), zone: zone,
                    uptime: uptime, devices: nil), AlertWatch.Settings())
            if let notice = output.notice {
                try await daemon.put(notice.data, AlertNotice.storeKey(deviceID: watch.deviceID))
            }
            for alert in output.alerts {
                watch.delivered(alert, succeeded: true, uptime: uptime)
            }
            return output.alerts.map { AlertText($0, now: Date(), zone: zone).title }
        }
    }

    @Test("the daemon warns at once, and the machine finds that it has")
    func daemonFirst() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let phone = service.browser("phone")
        var desk = Machine(daemon: daemon)
        try await daemon.push(used: 40)
        #expect(try await desk.look(uptime: 0).isEmpty)
        try await daemon.subscribe(phone)
        try await daemon.waitForNotice()
        #expect(try await desk.look(uptime: 20).isEmpty)
        try await daemon.push(used: 60)
        // It waits, because the daemon is before it.
        #expect(try await desk.look(uptime: 40).isEmpty)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("60 % used"))
        try await daemon.waitForNotice { !$0.delivered.isEmpty }
        #expect(try await desk.look(uptime: 131).isEmpty)
        #expect(service.requests.count == 1)
    }

    @Test("what the machine has delivered, the daemon does not repeat")
    func machineFirst() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let phone = service.browser("phone")
        service.answer("/phone", Array(repeating: .status(503), count: 1_000))
        var desk = Machine(daemon: daemon)
        try await daemon.push(used: 40)
        #expect(try await desk.look(uptime: 0).isEmpty)
        try await daemon.subscribe(phone)
        try await daemon.waitForNotice()
        try await daemon.push(used: 60)
        _ = await service.next(3)
        #expect(try await desk.look(uptime: 20).isEmpty)
        #expect(try await desk.look(uptime: 111) == ["Claude · Weekly: 60 % used"])
        // It publishes that, and the daemon tries no more.
        #expect(try await desk.look(uptime: 112).isEmpty)
        try await wait { try daemon.hasNothingPending() }
        service.answer("/phone", [])
        let refused = service.requests.count
        try await daemon.push(used: 80)
        try await wait { service.requests.count > refused }
        #expect(
            try service.requests.dropFirst(refused).map { try phone.shown($0).title }
                == ["Claude · Weekly: 80 % used"])
    }

    @Test("what no subscription of the daemon is left for, the machine delivers")
    func ended() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        var desk = Machine(daemon: daemon)
        try await daemon.push(used: 40)
        #expect(try await desk.look(uptime: 0).isEmpty)
        try await daemon.subscribe(service.browser("phone", .status(410)))
        try await daemon.waitForNotice()
        try await daemon.push(used: 60)
        try await daemon.waitForNotice { !$0.watches }
        #expect(try await desk.look(uptime: 20) == ["Claude · Weekly: 60 % used"])
        #expect(service.requests.count == 1)
    }

    @Test("the daemon is before every other machine")
    func order() {
        let id = AccountAlerts.deviceID(instance: "ffffffffffffffff")
        for other in ["0", "00000000-0000-0000-0000-000000000000", "a", "box-id"] { #expect(id < other) }
        #expect(AlertNotice.storeKey(deviceID: id).utf16.count <= 64)
    }
}
