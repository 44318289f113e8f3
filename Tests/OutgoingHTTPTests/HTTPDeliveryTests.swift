import Foundation
import Synchronization
import Testing

@testable import OutgoingHTTP

/// The rules of delivery by HTTP, with answers and addresses from a script.
@Suite("Delivery by HTTP")
struct HTTPDeliveryTests {
    /// What the other sides answer, in order, and what they got.
    private final class Script: Sendable {
        private let state: Mutex<(answers: [HTTPDelivery.Answer?], sent: [HTTPDelivery.Exchange])>
        let pauses = Mutex<[Duration]>([])

        /// - Parameter answers: nil for a failure of the network.
        init(_ answers: [HTTPDelivery.Answer?]) { state = Mutex((answers, [])) }

        var sent: [HTTPDelivery.Exchange] { state.withLock { $0.sent } }

        func answer(_ exchange: HTTPDelivery.Exchange) throws(DeliveryError) -> HTTPDelivery.Answer {
            let next = state.withLock { state in
                state.sent.append(exchange)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            guard let next else { throw DeliveryError("connection refused") }
            return next
        }
    }

    private static let addresses: [String: String] = [
        "hooks.example.test": "93.184.215.14", "other.example.test": "93.184.215.15",
        "inner.example.test": "10.0.0.5", "loop.example.test": "127.0.0.1",
    ]

    private func delivery(_ script: Script, privateHosts: [String] = []) -> HTTPDelivery {
        var delivery = HTTPDelivery(privateHosts: privateHosts, permission: "usage-push alerts set --private-host ")
        delivery.send = { exchange throws(DeliveryError) in try script.answer(exchange) }
        delivery.addresses = { host in
            Self.addresses[host].map { text in
                [NetworkAddress(bytes: text.split(separator: ".").compactMap { UInt8($0) }, text: text)]
            } ?? []
        }
        delivery.sleep = { pause in script.pauses.withLock { $0.append(pause) } }
        return delivery
    }

    private func outcome(
        _ url: String, _ answers: [HTTPDelivery.Answer?], privateHosts: [String] = []
    ) async throws -> (failure: String?, script: Script) {
        let script = Script(answers)
        let post = HTTPPost(
            address: try #require(HTTPAddress(url)),
            headers: [(name: "Authorization", value: "Bearer secret")], body: Data("{}".utf8))
        do throws(DeliveryError) {
            try await delivery(script, privateHosts: privateHosts).deliver(post)
            return (nil, script)
        } catch {
            return (error.description, script)
        }
    }

    @Test("the request goes to the address that was checked")
    func target() async throws {
        let (failure, script) = try await outcome("https://hooks.example.test/x", [.init(status: 204)])
        #expect(failure == nil)
        #expect(script.sent.map(\.target) == ["93.184.215.14"])
    }

    @Test("429, 5xx and a lost network are tried again, with a growing pause")
    func retries() async throws {
        let (failure, script) = try await outcome(
            "https://hooks.example.test/x", [.init(status: 503), nil, .init(status: 200)])
        #expect(failure == nil)
        #expect(script.pauses.withLock { $0 } == [.seconds(2), .seconds(8)])
        let (refused, again) = try await outcome(
            "https://hooks.example.test/x",
            [.init(status: 429, retryAfter: "5"), .init(status: 500), .init(status: 500)])
        #expect(refused == "hooks.example.test answers 500 (3 attempts)")
        #expect(again.pauses.withLock { $0 } == [.seconds(5), .seconds(8)])
    }

    @Test("who asks to wait long is left alone")
    func longWait() async throws {
        let (failure, script) = try await outcome(
            "https://hooks.example.test/x", [.init(status: 429, retryAfter: "3600")])
        #expect(failure == "hooks.example.test answers 429; its Retry-After exceeds 20 s")
        #expect(script.sent.count == 1)
    }

    @Test("other refusals are final", arguments: [400, 401, 404, 301, 302, 303])
    func final(status: Int) async throws {
        let (failure, script) = try await outcome(
            "https://hooks.example.test/x",
            [.init(status: status, location: "https://other.example.test/"), .init(status: 200)])
        #expect(failure?.hasPrefix("hooks.example.test answers \(status)") == true)
        #expect(script.sent.count == 1)
    }

    @Test("a private host is refused unless it is named", arguments: ["inner.example.test", "loop.example.test"])
    func privateHost(host: String) async throws {
        let refused = try await outcome("https://\(host)/x", [.init(status: 200)])
        #expect(refused.failure?.contains("usage-push alerts set --private-host \(host)") == true)
        #expect(refused.script.sent.isEmpty)
        let named = try await outcome("http://\(host)/x", [.init(status: 200)], privateHosts: [host.uppercased()])
        #expect(named.failure == nil)
    }

    @Test("a host that is unknown now passes the check, in plain text only if it is named")
    func unknownHost() async throws {
        func check(_ url: String) async throws {
            try await delivery(Script([]), privateHosts: ["nas.example.test"]).check(try #require(HTTPAddress(url)))
        }
        try await check("https://unknown.example.test/x")
        try await check("http://nas.example.test/x")
        await #expect(throws: DeliveryError.self) {
            try await check("http://unknown.example.test/")
        }
    }

    @Test("nothing goes to a public host in plain text")
    func plainText() async throws {
        let (failure, script) = try await outcome("http://hooks.example.test/x", [])
        #expect(failure?.contains("use https://") == true)
        #expect(script.sent.isEmpty)
    }

    @Test("a redirect to a private address is refused, unless it is named")
    func privateRedirect() async throws {
        let answers: [HTTPDelivery.Answer?] = [
            .init(status: 307, location: "https://inner.example.test/y"), .init(status: 200),
        ]
        let refused = try await outcome("https://hooks.example.test/x", answers)
        #expect(refused.failure?.contains("is the private address 10.0.0.5") == true)
        #expect(refused.script.sent.count == 1)
        let named = try await outcome("https://hooks.example.test/x", answers, privateHosts: ["inner.example.test"])
        #expect(named.failure == nil)
    }

    @Test("headers with secrets stay at their origin, and https does not become http")
    func origins() async throws {
        let (failure, script) = try await outcome(
            "https://hooks.example.test/x",
            [
                .init(status: 308, location: "/y"),
                .init(status: 307, location: "https://other.example.test/z"), .init(status: 200),
            ])
        #expect(failure == nil)
        #expect(script.sent.map(\.post.headers.count) == [1, 1, 0])
        #expect(script.sent.map(\.post.address.host).last == "other.example.test")
        let downgrade = try await outcome(
            "https://hooks.example.test/x",
            [.init(status: 307, location: "http://hooks.example.test/x")])
        #expect(downgrade.failure == "hooks.example.test redirects to plain HTTP")
    }

    @Test("endless redirects end")
    func endless() async throws {
        let (failure, script) = try await outcome(
            "https://hooks.example.test/x",
            (0..<9).map { .init(status: 307, location: "/\($0)") })
        #expect(failure == "hooks.example.test redirects more than 3 times")
        #expect(script.sent.count == 4)
    }

    @Test(
        "addresses that are not on the internet are private",
        arguments: [
            ("127.0.0.1", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.1.1", true),
            ("169.254.169.254", true), ("100.64.0.1", true), ("0.0.0.0", true), ("224.0.0.1", true),
            ("255.255.255.255", true), ("93.184.215.14", false), ("::1", true), ("::", true), ("fe80::1", true),
            ("fd00::1", true), ("ff02::1", true), ("::ffff:127.0.0.1", true), ("::ffff:93.184.215.14", false),
            ("64:ff9b::7f00:1", true), ("2002:7f00:1::", true), ("2606:2800:220:1::1", false), ("2001:db8::1", true),
        ])
    func networks(text: String, isPrivate: Bool) throws {
        // Numbers are understood without asking anybody.
        let address = try #require(NetworkAddress.all(ofHost: text).first)
        #expect(address.isPrivate == isPrivate)
    }

    @Test(
        "addresses are URLs of HTTP without a user",
        arguments: [
            ("https://a.example.test/x?y", "a.example.test"), ("HTTP://[::1]:8080/", "::1"),
            ("https://A.example.test.", "a.example.test"), ("ftp://a.example.test", nil),
            ("https://user:secret@a.example.test/", nil), ("https:///x", nil), ("a.example.test", nil),
            ("https://a.example.test/ x", nil), ("https://a.example.test:99999/", nil),
        ] as [(String, String?)])
    func urls(text: String, host: String?) {
        #expect(HTTPAddress(text)?.host == host)
    }
}
