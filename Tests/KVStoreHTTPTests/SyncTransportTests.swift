import Foundation
import KVStore
import Testing

@testable import KVStoreHTTP

@Suite("One round trip over HTTP", .timeLimit(.minutes(5)))
struct SyncTransportTests {
    private static let secret = "kvs_5ecretT0ken"
    private static let request = SyncRequest(
        replica: "8f3ac0de51b20417", epoch: nil, since: 7,
        changes: [
            SyncChange(
                key: "a/ü", stamp: "000000000001-00000000-00000000000000ff", value: Data([0, 255]))
        ])
    private static let answer = """
        {"epoch":"e1","cursor":9,"serverTime":5,"initial":true,"more":false,"new":{"field":1},
        "changes":[{"key":"k","stamp":"000000000002-00000000-0000000000000001","deleted":true,"seq":9}],
        "rejected":[{"key":"q","reason":"quota","limit":1}]}
        """

    private func transport(
        _ address: String, request: Duration = .seconds(30), silence: Duration = .seconds(40),
        path: String = ""
    ) throws -> HTTPSyncTransport {
        try HTTPSyncTransport(
            address: DaemonAddress(address + path),
            token: #require(AccessToken(Self.secret)),
            timeouts: HTTPTimeouts(request: request, silence: silence))
    }

    private func failure(_ transport: HTTPSyncTransport) async -> SyncTransportError? {
        do throws(SyncTransportError) {
            _ = try await transport.sync(Self.request, store: "default")
            return nil
        } catch {
            return error
        }
    }

    private func failure(_ script: @escaping ScriptedServer.Script) async throws
        -> SyncTransportError?
    {
        let server = try await ScriptedServer(script)
        let error = await failure(try transport(server.address))
        await server.stop()
        return error
    }

    @Test("a request carries the token, the path and the body, and the answer comes back")
    func roundTrip() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer("200 OK", body: Self.answer)
        }
        let transport = try transport(server.address, path: "/prefix/")
        let response = try await transport.sync(Self.request, store: "my.store")
        #expect(response.cursor == 9 && response.initial && response.changes.first?.seq == 9)
        #expect(response.rejected == [SyncRejection(key: "q", reason: "quota", limit: 1)])
        let received = try #require(server.received.first)
        #expect(received.line == "POST /prefix/v1/stores/my.store/sync HTTP/1.1")
        #expect(received.header("Authorization") == "Bearer \(Self.secret)")
        #expect(received.header("Content-Type") == "application/json")
        #expect(try JSONDecoder().decode(SyncRequest.self, from: received.body) == Self.request)
        await server.stop()
    }

    @Test("a store's name cannot leave its place in the path")
    func pathEncoding() throws {
        let address = try DaemonAddress("http://127.0.0.1:1")
        #expect(
            address.url(["stores", "../a b?c#d%/é"], query: [("epoch", "1&x=2")])
                == "http://127.0.0.1:1/stores/..%2Fa%20b%3Fc%23d%25%2F%C3%A9?epoch=1%26x%3D2")
    }

    @Test("401 is unauthorized with the daemon's words")
    func unauthorized() async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "401 Unauthorized", type: "application/problem+json",
                body: #"{"code":"token-unknown","detail":"this token is not known"}"#)
        }
        guard case .unauthorized(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasSuffix(": this token is not known"))
    }

    @Test(
        "other errors are refusals with status, code and text",
        arguments: [400, 403, 404, 405, 408, 409, 413, 415, 422, 431, 500, 501, 502, 504, 507])
    func refused(status: Int) async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "\(status) Words", type: "application/problem+json",
                body: #"{"code":"some-code","title":"Title","detail":"What to do.\nNow"}"#)
        }
        #expect(
            error == .refused(status: status, code: "some-code", message: "What to do. Now"))
    }

    @Test("429 and 503 ask to wait, for as long as Retry-After says", arguments: [429, 503])
    func busy(status: Int) async throws {
        let cases: [(String, Double?)] = [
            ("Retry-After: 7", 7), ("Retry-After: 1e99", 86_400), ("Retry-After: -5", nil),
            ("Retry-After: nan", nil), ("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", nil),
            ("X-Other: 1", nil),
        ]
        for (header, seconds) in cases {
            let error = try await failure { _ in
                ScriptedServer.answer("\(status) Busy", headers: [header])
            }
            #expect(error == .busy(retryAfterSeconds: seconds), "\(header)")
        }
    }

    @Test("a redirect is not followed, and the token is not sent on")
    func redirect() async throws {
        let other = try await ScriptedServer { _ in ScriptedServer.answer("200 OK") }
        let address = other.address
        let error = try await failure { _ in
            ScriptedServer.answer("307 Elsewhere", headers: ["Location: \(address)/"])
        }
        guard case .refused(307, "redirect", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(other.received.isEmpty)
        await other.stop()
    }

    @Test("an error page that is no problem document is told by its status")
    func errorPage() async throws {
        let error = try await failure { _ in
            ScriptedServer.answer("404 Not Found", type: "text/html", body: "<html>\u{1B}[2J")
        }
        #expect(
            error
                == .refused(
                    status: 404, code: "http-404",
                    message: "no explanation; is this address kvsd's?"))
    }

    @Test("a daemon that repeats the token, or says too much, does not get it into an error")
    func hostileWords() async throws {
        let detail = "got \(Self.secret) \\u001b[2J\\u202e" + String(repeating: "x", count: 9_000)
        let error = try await failure { _ in
            ScriptedServer.answer(
                "403 No", body: #"{"code":"c","detail":"\#(detail)"}"#)
        }
        let text = try #require(error).description
        #expect(!text.contains(Self.secret) && text.contains("(token)"))
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && text.count < 600)
    }

    @Test("an error body without end is cut, not collected")
    func endlessError() async throws {
        let error = try await failure { _ in
            [
                .text("HTTP/1.1 404 No\r\nContent-Length: 999999999\r\n\r\n"),
                .send(Data(repeating: 0x20, count: 1_024 * 1_024)),
            ]
        }
        guard case .refused(404, "http-404", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("an answer beyond 4 MiB is refused while it comes")
    func oversized() async throws {
        let error = try await failure { _ in
            [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"),
                .send(Data(repeating: 0x20, count: 5 * 1_024 * 1_024)),
            ]
        }
        guard case .malformed(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("4194304"))
    }

    @Test(
        "an answer that is not the protocol's is malformed",
        arguments: [
            "", "{", "[]", "null", "{}", "\u{FEFF}<html>", #"{"epoch":1}"#,
            #"{"epoch":"e","cursor":-1,"serverTime":5,"initial":true,"more":false,"changes":[],"rejected":[]}"#,
            #"{"epoch":"e","cursor":1,"serverTime":5,"initial":true,"more":false,"changes":[{"key":"k","stamp":"s","value":"***"}],"rejected":[]}"#,
        ])
    func malformed(body: String) async throws {
        let error = try await failure { _ in ScriptedServer.answer("200 OK", body: body) }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("JSON nested without end is malformed", arguments: ["[", #"{"epoch":"#])
    func nested(opening: String) async throws {
        let error = try await failure { _ in
            ScriptedServer.answer("200 OK", body: String(repeating: opening, count: 100_000))
        }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a connection that breaks in the middle of an answer is unreachable")
    func brokenMidway() async throws {
        for head in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"epoch\""] {
            let error = try await failure { _ in [.text(head), .close] }
            guard case .unreachable(let text) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.hasPrefix("127.0.0.1:"))
            #expect(text.hasSuffix(": the connection broke"), "\(text)")
        }
    }

    @Test("bytes that are not HTTP are unreachable with a cause")
    func notHTTP() async throws {
        let error = try await failure { _ in [.text("SSH-2.0-OpenSSH_9.2\r\n\r\n"), .close] }
        guard case .unreachable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasSuffix(": what answers there does not speak HTTP"), "\(text)")
    }

    @Test("nobody at the port is said in words, with the question whether kvsd runs")
    func refusedConnection() async throws {
        let server = try await ScriptedServer { _ in [] }
        await server.stop()
        let error = await failure(try transport(server.address))
        #expect(
            error
                == .unreachable(
                    "127.0.0.1:\(server.port): connection refused — is kvsd running?"))
    }

    @Test("an unknown host is said in words")
    func unknownHost() async throws {
        let error = await failure(try transport("http://no-such-host.invalid:8722"))
        guard case .unreachable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasPrefix("no-such-host.invalid:8722: "))
    }

    @Test("no answer, and an answer that trickles, both end at the deadline")
    func deadline() async throws {
        for head in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"] {
            let server = try await ScriptedServer { _ in [.text(head)] }
            let error = await failure(
                try transport(server.address, request: .milliseconds(300)))
            #expect(
                error
                    == .unreachable(
                        "127.0.0.1:\(server.port): no whole answer within 300 ms"))
            await server.waitUntilNoneIsOpen()
            await server.stop()
        }
    }

    @Test("a cancelled round trip ends at once and closes its connection")
    func cancelled() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { _ in
            arrived.yield()
            return []
        }
        let transport = try transport(server.address)
        let task = Task { await failure(transport) }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        #expect(await task.value == .unreachable("127.0.0.1:\(server.port): cancelled"))
        await server.waitUntilNoneIsOpen()
        await server.stop()
    }

    @Test("a closed transport fails in words, and closing twice does nothing")
    func closed() async throws {
        let transport = try transport("http://127.0.0.1:1")
        transport.close()
        transport.close()
        let error = await failure(transport)
        #expect(error == .unreachable("127.0.0.1:1: the connection was shut down here"))
    }
}
