import Foundation
import HTTPTypes
import ServerTestSupport
import StoreTestSupport
import Testing
import UsageState

@testable import KVStoreServer
@testable import UsageServer

@Suite("The resources of notifications", .timeLimit(.minutes(2)))
struct NotificationResourceTests {
    private struct State: Decodable {
        struct Settings: Decodable {
            struct Rules: Decodable { var thresholds: [Double] }
            var rules: Rules
            var quietHours: String?
            var utcOffset: Int?
        }
        var publicKey: String
        var subscriptions: Int
        var settings: Settings
    }

    private struct TestResult: Decodable, Equatable {
        var sent: Int
        var ended: Int
        var failures: [String]
    }

    private static let test = "/v1/notifications/test"

    @Test("a device sees the key, subscribes itself, and unsubscribes")
    func subscribing() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let none = try await daemon.send(.get).decoded(State.self)
        #expect(none.subscriptions == 0 && none.publicKey.count == 87)
        #expect(none.settings.rules.thresholds == [50, 75, 90] && none.settings.utcOffset == nil)
        let phone = service.browser("phone")
        // Again and again, as a page does whenever it is opened.
        for _ in 0..<2 {
            let state = try await daemon.subscribe(phone).decoded(State.self)
            #expect(state.subscriptions == 1 && state.publicKey == none.publicKey)
        }
        let changed = try await daemon.send(
            .put,
            body:
                #"{"settings":{"rules":{"thresholds":[95]},"quietHours":"22:00-07:30","utcOffset":-330}}"#
        )
        let settings = try changed.decoded(State.self).settings
        #expect(settings.rules.thresholds == [95] && settings.quietHours == "22:00-07:30")
        #expect(settings.utcOffset == -330)
        // The settings are the account's, the subscriptions the device's.
        let other = try daemon.server.addDevice("other", isReadOnly: true)
        let seen = try await daemon.send(.get, NotificationDaemon.path, other).decoded(State.self)
        #expect(seen.subscriptions == 0 && seen.settings.rules.thresholds == [95])
        #expect(try await daemon.send(.delete).status == .noContent)
        try await daemon.restart()
        let last = try await daemon.send(.get).decoded(State.self)
        #expect(last.subscriptions == 0 && last.publicKey == none.publicKey)
        #expect(last.settings.rules.thresholds == [95])
        for name in ["notifications.json", "vapid-key.pem"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: daemon.directory.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test("subscriptions are bounded, and an endpoint belongs to one device")
    func bounds() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        for number in 0..<6 {
            let state = try await daemon.subscribe(service.browser("\(number)")).decoded(State.self)
            #expect(state.subscriptions == min(number + 1, 4))
        }
        // The browser was paired again.
        let again = try daemon.server.addDevice("again")
        try await daemon.subscribe(service.browser("5"), again)
        #expect(try await daemon.send(.get).decoded(State.self).subscriptions == 3)
        var last = again
        for device in 0..<8 {
            last = try daemon.server.addDevice("device \(device)")
            for number in 0..<4 where device < 7 {
                try await daemon.subscribe(service.browser("\(device)/\(number)"), last)
            }
        }
        let browser = service.browser("surplus")
        let refused = try await daemon.send(
            .put, NotificationDaemon.path, last, body: "{\"subscription\":\(browser.json)}")
        #expect(refused.problemCode == "too-many-subscriptions" && refused.status == .conflict)
    }

    @Test("a test goes to the subscriptions of the device alone, and not without end")
    func tests() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let without = try await daemon.send(.post, Self.test)
        #expect(without.status == .notFound && without.problemCode == "no-subscription")
        let phone = service.browser("phone")
        let failing = service.browser("failing", .status(503), .status(410))
        let other = try daemon.server.addDevice("other")
        try await daemon.subscribe(phone)
        try await daemon.subscribe(failing)
        try await daemon.subscribe(service.browser("other"), other)
        let first = try await daemon.send(.post, Self.test).decoded(TestResult.self)
        #expect(
            first
                == TestResult(
                    sent: 1, ended: 0, failures: ["127.0.0.1 has not accepted the message; the daemon's log says why"]))
        let request = try #require(service.requests.first { $0.path == "/phone" })
        let shown = try phone.shown(request)
        #expect(shown.title == "Test notification" && shown.tag == "test")
        let second = try await daemon.send(.post, Self.test).decoded(TestResult.self)
        #expect(second == TestResult(sent: 1, ended: 1, failures: []))
        #expect(!service.requests.contains { $0.path == "/other" })
        let fourth = try await daemon.send(.post, Self.test)
        #expect(fourth.status == .tooManyRequests && fourth.problemCode == "rate")
        #expect(fourth.headers[.retryAfter] != nil)
    }

    @Test("which private address a push service has is in the log alone")
    func privateAddress() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let browser = TestBrowser(endpoint: service.origin.replacing("127.0.0.1", with: "localhost") + "/phone")
        try await daemon.restart(privateHosts: ["localhost"])
        try await daemon.subscribe(browser)
        try await daemon.restart(privateHosts: [])
        let result = try await daemon.send(.post, Self.test).decoded(TestResult.self)
        #expect(result.failures == ["localhost is not on the internet"])
        #expect(daemon.lines.all.contains { $0.contains("is the private address ") })
    }

    @Test("a device that may not read the account's usage cannot subscribe")
    func permissions() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let limited = try daemon.server.addDevice("limited", stores: ["notes"])
        let body = "{\"subscription\":\(service.browser("limited").json)}"
        for method in [HTTPRequest.Method.get, .put, .delete] {
            let refused = try await daemon.send(
                method, NotificationDaemon.path, limited, body: method == .put ? body : nil)
            #expect(refused.status == .notFound && refused.problemCode == "unknown-store")
        }
        let unknown = try await daemon.send(.get, NotificationDaemon.path, "ubq_unknown")
        #expect(unknown.status == .unauthorized)
        #expect(try await daemon.send(.post).status == .methodNotAllowed)
        #expect(try await daemon.send(.get, Self.test).status == .methodNotAllowed)
        #expect(try await daemon.send(.head).text == "")
    }

    @Test(
        "an endpoint that is not on the internet is refused",
        arguments: [
            "http://push.example.test/1", "https://user:secret@8.8.8.8/1", "https://127.0.0.1/1", "https://localhost/1",
            "https://[::1]/1", "https://10.0.0.1/1", "https://192.168.1.1/1",
            "https://169.254.169.254/latest/meta-data", "https://[fd00::1]/1", "https://0/1",
            "https://[::ffff:10.0.0.1]/1", "https://2130706433/1", "https://0x7f.1/1", "ftp://8.8.8.8/1",
            "https://8.8.8.8:0/1", "https://8.8.8.8/" + String(repeating: "a", count: 2_048),
        ])
    func endpoints(endpoint: String) async throws {
        let daemon = try await NotificationDaemon(privateHosts: [])
        let browser = TestBrowser(endpoint: endpoint)
        let refused = try await daemon.send(.put, body: "{\"subscription\":\(browser.json)}")
        #expect(refused.status == .badRequest, "\(refused.text)")
        #expect(["bad-endpoint", "malformed"].contains(refused.problemCode))
        for secret in browser.secrets { #expect(!refused.text.contains(secret)) }
        #expect(try await daemon.send(.get).decoded(State.self).subscriptions == 0)
    }

    @Test(
        "a body that is no change of notifications is refused, and changes nothing",
        arguments: [
            "", "[]", "{", #"{"subscription":{}}"#, #"{"subscription":{"endpoint":"x","keys":{}}}"#,
            #"{"settings":{"quietHours":"25:00-07:00"}}"#, #"{"settings":{"quietHours":7}}"#,
            #"{"settings":{"utcOffset":1081}}"#, #"{"settings":{"utcOffset":0.5}}"#,
            #"{"settings":{"rules":{"thresholds":[0]}}}"#, #"{"settings":{"rules":{"thresholds":"off"}}}"#,
            #"{"settings":{"rules":{"scopes":{"":[50]}}}}"#,
            #"{"settings":{"utcOffset":60},"settings":{"utcOffset":0}}"#, String(repeating: "[", count: 1_000),
        ])
    func bodies(body: String) async throws {
        let daemon = try await NotificationDaemon()
        let refused = try await daemon.send(.put, body: body)
        #expect(refused.status == .badRequest, "\(refused.text)")
        #expect(!daemon.directory.names.contains("notifications.json"))
        let large = try await daemon.send(.put, body: "{\"x\":\"" + String(repeating: "a", count: 16_384) + "\"}")
        #expect(large.problemCode == "body-too-large")
        let form = try await daemon.send(.put, type: "text/plain", body: "{}")
        #expect(form.status == .unsupportedMediaType)
    }

    @Test(
        "files that cannot be read do not stop the daemon, and are not replaced",
        arguments: ["{", #"{"version":2,"devices":{},"settings":{}}"#])
    func damage(content: String) async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        try await daemon.subscribe(service.browser("phone"))
        try await daemon.stop()
        try daemon.directory.write(Array(content.utf8), to: "notifications.json")
        try await daemon.restart(isRunning: false)
        for method in [HTTPRequest.Method.get, .put, .delete] {
            let failed = try await daemon.send(method, body: method == .put ? "{}" : nil)
            #expect(failed.problemCode == "notifications-failed")
            #expect(!failed.text.contains(daemon.directory.path))
        }
        #expect(daemon.directory.bytes("notifications.json") == Array(content.utf8))
        #expect(daemon.lines.all.contains { $0.contains("notifications.json") })
        #expect(try await daemon.send(.get, "/v1/me").status == .ok)
    }

    @Test("neither log nor answer says what a subscription is, or what the daemon's key is")
    func secrets() async throws {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let browsers = [
            service.browser("accepted/s3cret"),
            service.browser("refused/s3cret", .status(403), .status(403)),
            service.browser("gone/s3cret", .status(503), .status(503), .status(503), .status(410)),
        ]
        try await daemon.push(used: 40)
        var answers: [String] = []
        for browser in browsers { answers.append(try await daemon.subscribe(browser).text) }
        try await daemon.waitForNotice()
        try await daemon.push(used: 60)
        try await daemon.waitForNotice { !$0.delivered.isEmpty }
        answers.append(try await daemon.send(.post, Self.test).text)
        answers.append(try await daemon.send(.get).text)
        let key = String(decoding: daemon.directory.bytes("vapid-key.pem"), as: UTF8.self)
        let secrets =
            browsers.flatMap(\.secrets) + ["s3cret"]
            + key.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
        #expect(secrets.count > 10)
        let said = (answers + daemon.lines.all).joined(separator: "\n")
        #expect(said.contains("127.0.0.1 answers 403") && said.contains("notification not sent"))
        for secret in secrets { #expect(!said.contains(secret), "\(secret)") }
    }
}
