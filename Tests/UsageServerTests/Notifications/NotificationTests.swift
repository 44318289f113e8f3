import Foundation
import HTTPTypes
import ServerTestSupport
import StoreTestSupport
import Testing
import UsageState

@testable import KVStoreServer
@testable import UsageServer

/// With a real server and a push service, both in this process.
@Suite("Alerts on phones", .timeLimit(.minutes(2)))
struct NotificationTests {
    @Test("each event is sent once to each subscription of the account, and to nobody else")
    func events() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.push(used: 40)
        let browsers = ["phone", "tablet", "laptop"].map { service.browser($0) }
        let tablet = try daemon.server.addDevice("tablet", isReadOnly: true)
        let stranger = try daemon.server.addDevice("stranger", account: "other")
        try await daemon.subscribe(browsers[0])
        try await daemon.subscribe(browsers[1], tablet)
        try await daemon.subscribe(browsers[2], tablet)
        try await daemon.subscribe(service.browser("stranger"), stranger)
        try await daemon.waitForNotice()
        var tags: Set<String> = []
        for used in [80.0, 95.0] {
            try await daemon.push(used: used)
            let requests = await service.next(3)
            #expect(Set(requests.map(\.path)) == ["/phone", "/tablet", "/laptop"])
            for request in requests {
                let browser = try #require(browsers.first { $0.endpoint.hasSuffix(request.path) })
                let shown = try browser.shown(request)
                #expect(shown.title == "Claude · Weekly: \(Int(used)) % used")
                #expect(shown.body.hasPrefix("dev@example.test · resets in"))
                #expect(request.field("Topic") == shown.tag && shown.url == "./")
                #expect(request.field("Urgency") == (used > 90 ? "high" : "normal"))
                #expect(ISO8601DateFormatter().date(from: shown.at) != nil)
                tags.insert(shown.tag)
            }
        }
        // The later one replaces the earlier one.
        #expect(tags.count == 1)
        #expect(service.requests.count == 6)
    }

    @Test("an account without subscriptions costs nothing, and a machine's first push warns of nothing")
    func idle() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.push(used: 95)
        #expect(daemon.observerCount == 0)
        #expect(try await daemon.notice() == nil)
        try await daemon.subscribe(service.browser("phone"))
        try await daemon.waitForNotice()
        #expect(daemon.observerCount == 1 && daemon.server.streamCount == 0)
        let removed = try await daemon.send(.delete)
        #expect(removed.status == .noContent)
        try await daemon.waitForNotice { !$0.watches }
        try await wait { daemon.observerCount == 0 }
        #expect(try daemon.files.state(of: "default") == nil)
        #expect(service.requests.isEmpty)
    }

    @Test("a store that nobody has written to is not made by a subscription")
    func noStore() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let phone = service.browser("phone")
        try await daemon.subscribe(phone)
        try await wait { daemon.observerCount > 0 }
        #expect(try await daemon.values().isEmpty)
        try await daemon.push(used: 10)
        try await daemon.waitForNotice()
        try await daemon.push(used: 60)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("60 % used"))
    }

    @Test("a restart repeats nothing, and forgets nothing that is pending")
    func restart() async throws {
        let (daemon, service, phone) = try await NotificationDaemon.withPhone()
        try await daemon.push(used: 60)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("60 % used"))
        try await daemon.waitForNotice { !$0.delivered.isEmpty }
        try await daemon.restart()
        // Three attempts fail, and the daemon ends before the next ones.
        service.answer("/phone", Array(repeating: .status(503), count: 3))
        try await daemon.push(used: 80)
        #expect(await service.next(3).count == 3)
        try await daemon.restart()
        let late = try phone.shown(await service.next()[0])
        #expect(late.title.hasSuffix("80 % used"))
        try await daemon.waitForNotice { $0.delivered.count == 2 }
        try await daemon.restart()
        try await daemon.push(used: 81)
        try await daemon.push(used: 95)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("95 % used"))
        #expect(service.requests.count == 6)
    }

    @Test("a removed device gets nothing any more, and its subscription is gone")
    func removedDevice() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.push(used: 40)
        let phone = try daemon.server.addDevice("phone")
        let kept = service.browser("kept")
        try await daemon.subscribe(service.browser("removed"), phone)
        try await daemon.subscribe(kept)
        try await daemon.waitForNotice()
        let id = try #require(daemon.server.devices.table.devices.first { $0.name == "phone" }?.id)
        #expect(try daemon.files.table.subscriptions(ofDevice: id).count == 1)
        try daemon.server.devices.change { table throws(ServerError) in _ = try table.remove("phone", account: nil) }
        try await daemon.push(used: 60)
        #expect(await service.next().map(\.path) == ["/kept"])
        try await wait { try daemon.files.table.subscriptions(ofDevice: id).isEmpty }
        let file = try String(contentsOfFile: daemon.directory.path + "/notifications.json", encoding: .utf8)
        #expect(!file.contains(id) && !file.contains("/removed") && file.contains("/kept"))
    }

    @Test("a subscription that the push service no longer knows is removed", arguments: [404, 410])
    func gone(status: Int) async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.push(used: 40)
        let phone = service.browser("phone")
        try await daemon.subscribe(service.browser("former", .status(status)))
        try await daemon.subscribe(phone)
        try await daemon.waitForNotice()
        try await daemon.push(used: 60)
        _ = await service.next(2)
        try await daemon.waitForNotice { !$0.delivered.isEmpty }
        try await daemon.push(used: 80)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("80 % used"))
        #expect(service.requests.filter { $0.path == "/former" }.count == 1)
    }

    @Test("a device that was removed while the daemon was down is noticed at its start")
    func removedMeanwhile() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.push(used: 40)
        let phone = try daemon.server.addDevice("phone")
        try await daemon.subscribe(service.browser("phone"), phone)
        try await daemon.waitForNotice()
        try await daemon.stop()
        try DeviceFile(dataDirectory: daemon.directory.path).change { table throws(ServerError) in
            _ = try table.remove("phone", account: nil)
        }
        try await daemon.restart(isRunning: false)
        try await daemon.waitForNotice { !$0.watches }
        try await wait { try daemon.files.state(of: "default") == nil }
        try await wait { daemon.directory.bytes("notifications.json").count < 50 }
    }

    @Test("in quiet hours alerts are held, and after them one summary says what they were")
    func quietHours() async throws {
        let (daemon, service, phone) = try await NotificationDaemon.withPhone()
        // All hours but the last minute before the present time.
        let minute = Int(Date().timeIntervalSince1970) / 60 + 1_440
        let hours = try #require(QuietHours(start: (minute - 2) % 1_440, end: (minute - 3) % 1_440)).text
        let quiet = try await daemon.send(.put, body: #"{"settings":{"quietHours":"\#(hours)","utcOffset":0}}"#)
        #expect(quiet.status == .ok, "\(quiet.text)")
        func isPending(_ text: String) throws -> Bool {
            let state = try daemon.files.state(of: "default") ?? Data()
            return String(decoding: state, as: UTF8.self).contains("\"usedPercent\":\(text)")
        }
        for used in [60.0, 80.0] {
            try await daemon.push(used: used)
            try await wait { try isPending("\(Int(used))") }
        }
        #expect(service.requests.isEmpty)
        _ = try await daemon.send(.put, body: #"{"settings":{"utcOffset":0}}"#)
        let shown = try phone.shown(await service.next()[0])
        #expect(shown.title == "1 alert during quiet hours")
        #expect(shown.body.contains("Claude · Weekly: 80 % used"))
        #expect(service.requests.count == 1)
    }

    @Test("a push service that hangs holds up no alert about another window")
    func hanging() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let tools = ["Claude", "Codex", "Gemini"]
        try await daemon.push(used: 40, of: tools)
        let phone = service.browser("phone")
        try await daemon.subscribe(phone)
        try await daemon.subscribe(service.browser("hanging", .silence, .silence, .silence))
        try await daemon.waitForNotice()
        try await daemon.push(used: 60, of: tools)
        // Before an attempt is repeated.
        let requests = await service.next(6)
        let sent = try requests.filter { $0.path == "/phone" }.map { try phone.shown($0).title }
        #expect(sent.sorted() == tools.map { $0 + " · Weekly: 60 % used" })
    }

    @Test("subscriptions that cannot be read for a while are not taken for none")
    func unreadable() async throws {
        let (daemon, service, phone) = try await NotificationDaemon.withPhone()
        try await daemon.stop()
        let file = daemon.directory.bytes("notifications.json")
        try daemon.directory.write(Array("{".utf8), to: "notifications.json")
        try await daemon.restart(isRunning: false)
        func failureCount() -> Int {
            daemon.lines.all.count { $0.contains("notifications.json") }
        }
        try await wait { failureCount() >= 4 }
        #expect(try await daemon.notice()?.watches == true)
        try daemon.directory.write(file, to: "notifications.json")
        try await daemon.push(used: 60)
        #expect(try phone.shown(await service.next()[0]).title.hasSuffix("60 % used"))
    }

    @Test("a notice that the store refuses is written when it accepts it")
    func refusedNotice() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        func limit(_ byteLimit: Int?) throws {
            try daemon.server.devices.change { table throws(ServerError) in
                _ = try table.limitAccount("default", now: 0) { $0.byteLimit = byteLimit }
            }
        }
        func warnings() -> Int { daemon.lines.all.count { $0.contains("cannot publish the alert notice") } }
        try await daemon.push(used: 40)
        try limit(1)
        try await daemon.subscribe(service.browser("phone"))
        try await wait { warnings() > 0 }
        #expect(try await daemon.notice() == nil)
        try limit(nil)
        try await daemon.waitForNotice()
        // The same at the end.
        try limit(1)
        _ = try await daemon.send(.delete)
        try await wait { warnings() > 1 }
        #expect(try await daemon.notice()?.watches == true)
        try limit(nil)
        try await daemon.waitForNotice { !$0.watches }
        try await wait { try daemon.files.state(of: "default") == nil }
    }

    @Test("levels that are off do not warn")
    func levels() async throws {
        let (daemon, service, phone) = try await NotificationDaemon.withPhone()
        let changed = try await daemon.send(.put, body: #"{"settings":{"rules":{"thresholds":[85],"reached":false}}}"#)
        #expect(changed.status == .ok, "\(changed.text)")
        for used in [80.0, 86.0, 100.0] { try await daemon.push(used: used) }
        #expect(try phone.shown(await service.next()[0]).title.contains("Claude · Weekly: "))
        #expect(service.requests.count == 1)
    }
}
