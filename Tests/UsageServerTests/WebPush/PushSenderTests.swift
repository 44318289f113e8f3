import Foundation
import ServerTestSupport
import Synchronization
import Testing
import UsageState

@testable import OutgoingHTTP
@testable import UsageServer

/// With real connections to a push service in this process.
@Suite("Sending to a push service", .timeLimit(.minutes(1)))
struct PushSenderTests {
    private let pauses = Pauses()

    private final class Pauses: Sendable {
        let all = Mutex<[Duration]>([])
    }

    private func send(
        to browser: TestBrowser, allowing hosts: [String]? = nil, limit: Duration = .seconds(10), repeats: Bool = true
    ) async throws -> PushSender.Outcome {
        let named = try hosts ?? [#require(HTTPAddress(browser.endpoint)).authority]
        var http = HTTPDelivery(privateHosts: named, permission: "allow ")
        http.send = HTTPExchange(limit: limit).send
        http.sleep = { [pauses] pause in pauses.all.withLock { $0.append(pause) } }
        let sender = PushSender(key: VAPIDKey(), contact: "mailto:dev@example.test", http: http)
        let message = try #require(
            PushMessage(Data("{\"title\":\"x\"}".utf8), secondsToLive: 60, urgency: .high, topic: "abc"))
        return await sender.send(
            message, to: try JSONDecoder().decode(PushSubscription.self, from: Data(browser.json.utf8)),
            now: Date(), repeats: repeats)
    }

    @Test("a message arrives encrypted, with its headers", arguments: [201, 202, 200])
    func accepted(status: Int) async throws {
        let service = try await TestPushService()
        let browser = service.browser("sub", .status(status))
        #expect(try await send(to: browser) == .accepted)
        let request = try #require(service.requests.first)
        #expect(try browser.decrypt(request.body) == Data("{\"title\":\"x\"}".utf8))
        #expect(request.field("TTL") == "60" && request.field("Urgency") == "high")
        #expect(request.field("Topic") == "abc")
        #expect(request.field("Content-Encoding") == "aes128gcm")
        #expect(request.field("Authorization")?.hasPrefix("vapid t=") == true)
    }

    @Test("404 and 410 say that the subscription is gone", arguments: [404, 410])
    func gone(status: Int) async throws {
        let service = try await TestPushService()
        #expect(try await send(to: service.browser("sub", .status(status))) == .gone)
        #expect(service.requests.count == 1)
    }

    @Test("busy and failing services are asked again, a bounded number of times")
    func retries() async throws {
        let service = try await TestPushService()
        let busy = service.browser("a", .status(429, ["Retry-After": "3"]), .status(500))
        #expect(try await send(to: busy) == .accepted)
        #expect(pauses.all.withLock { $0 } == [.seconds(3), .seconds(8)])
        let failing = service.browser("b", .status(503), .status(503), .status(503))
        #expect(try await send(to: failing) == .failed(.init("127.0.0.1 answers 503 (3 attempts)")))
        #expect(service.requests.count == 6)
        let once = service.browser("c", .status(503))
        #expect(try await send(to: once, repeats: false) == .failed(.init("127.0.0.1 answers 503")))
        #expect(service.requests.count == 7)
    }

    @Test("refusals and redirects are final", arguments: [400, 403, 413, 301, 307, 308])
    func final(status: Int) async throws {
        let service = try await TestPushService()
        let other = try await TestPushService()
        let browser = service.browser("sub", .status(status, ["Location": other.origin + "/elsewhere"]))
        guard case .failed(let error) = try await send(to: browser) else {
            Issue.record("it must fail")
            return
        }
        #expect(error.description.hasPrefix("127.0.0.1 answers \(status)"))
        #expect(!browser.secrets.contains { error.description.contains($0) })
        #expect(service.requests.count == 1 && other.requests.isEmpty)
    }

    @Test("a silent service is given up, and an endless answer is not read")
    func hostile() async throws {
        let service = try await TestPushService()
        let silent = service.browser("a", .silence, .silence, .silence)
        #expect(
            try await send(to: silent, limit: .milliseconds(200))
                == .failed(.init("127.0.0.1: no answer within 0.2 seconds (3 attempts)")))
        #expect(try await send(to: service.browser("b", .flood)) == .accepted)
    }

    @Test("nothing goes to this machine or a private network unless it is named")
    func privateHosts() async throws {
        let service = try await TestPushService()
        let browser = service.browser("sub")
        guard case .failed(let error) = try await send(to: browser, allowing: []) else {
            Issue.record("it must fail")
            return
        }
        #expect(error.reason == "127.0.0.1 is not on the internet")
        #expect(
            error.description == error.reason
                + ": it is the private address 127.0.0.1; to allow it, run: allow "
                + String(service.origin.dropFirst("http://".count)))
        guard case .failed = try await send(to: browser, allowing: ["127.0.0.1", "127.0.0.1:1"]) else {
            Issue.record("another port of a named host is not named")
            return
        }
        #expect(service.requests.isEmpty)
    }

    @Test("messages are bounded, and topics have the characters of RFC 8030")
    func messages() {
        func message(_ count: Int, _ topic: String?) -> PushMessage? {
            PushMessage(Data(count: count), secondsToLive: 0, urgency: .low, topic: topic)
        }
        #expect(message(3_000, nil) != nil && message(3_001, nil) == nil)
        #expect(message(1, String(repeating: "a", count: 32)) != nil)
        for topic in ["", "a b", "ä", "a/b", String(repeating: "a", count: 33)] { #expect(message(1, topic) == nil) }
    }
}
