import Foundation
import KVStore
import KVStoreWire
import Testing

@testable import KVStoreHTTP

@Suite("Sync over HTTP", .timeLimit(.minutes(5)))
struct SyncTransportTests {
    private static let secret = "kvs_5ecretT0ken"
    private static let epoch = EpochID(rawValue: 0xe1)
    private static let stamp = StoreStamp(milliseconds: 2, counter: 0, replica: ReplicaID(rawValue: 1))
    private static let request = SyncRequest(
        replica: ReplicaID(rawValue: 7), since: SyncCursor(epoch: epoch, sequence: 7),
        changes: [StoreRecord(key: "a/ü", stamp: stamp, content: .value(Data([0, 255])))])
    private static let answer = """
        {"epoch":"00000000000000e1","cursor":9,"serverTime":5,"initial":false,"more":false,"horizon":1,
        "changes":[{"key":"k","stamp":"000000000002-00000000-0000000000000001","deleted":true,"seq":9}],
        "rejected":[{"key":"q","stamp":"000000000002-00000000-0000000000000001","reason":"quota",
        "limit":1}],"new":{"field":1}}
        """

    private func transport(
        _ address: String, request: Duration = .seconds(30), silence: Duration = .seconds(40), path: String = ""
    ) throws -> HTTPSyncTransport {
        try HTTPSyncTransport(
            address: DaemonAddress(address + path), token: #require(AccessToken(Self.secret)),
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

    private func failure(_ script: @escaping ScriptedServer.Script) async throws -> SyncTransportError? {
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
        let change = StoreRecord(key: "k", stamp: Self.stamp, content: .tombstone)
        let rejection = SyncRejection(key: "q", stamp: Self.stamp, reason: .quota(limit: 1))
        #expect(
            response
                == SyncResponse(
                    cursor: SyncCursor(epoch: Self.epoch, sequence: 9), serverTime: 5,
                    changes: [SequencedRecord(record: change, sequence: 9)], rejections: [rejection], horizon: 1))
        let received = try #require(server.received.first)
        #expect(received.line == "POST /prefix/v1/stores/my.store/sync HTTP/1.1")
        #expect(received.header("Authorization") == "Bearer \(Self.secret)")
        #expect(received.body == Data(WireBinary.encode(Self.request)))
        await server.stop()
    }

    @Test("a store name is one segment of the path, whatever it contains")
    func pathEncoding() throws {
        let address = try DaemonAddress("http://127.0.0.1:1")
        #expect(
            address.url(["stores", "../a b?c#d%/é"], query: [("epoch", "1&x=2")])
                == "http://127.0.0.1:1/stores/..%2Fa%20b%3Fc%23d%25%2F%C3%A9?epoch=1%26x%3D2")
    }

    @Test("401 is unauthorized, with the daemon's explanation")
    func unauthorized() async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "401 Unauthorized", type: "application/problem+json",
                body: #"{"code":"token-unknown","title":"Title","detail":"unknown token"}"#)
        }
        guard case .unauthorized(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasSuffix(": unknown token"))
    }

    @Test("429 for failed authentications is unauthorized: a right token is never refused so")
    func failedAuthentications() async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "429 Too Many Requests", type: "application/problem+json",
                body: #"{"code":"failed-authentications","title":"Title"}"#)
        }
        guard case .unauthorized = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "other errors have the status, the code and the explanation of the problem document",
        arguments: [400, 403, 404, 405, 408, 409, 413, 415, 422, 431, 500, 501, 502, 504, 507])
    func refused(status: Int) async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "\(status) Words", type: "application/problem+json",
                body: #"{"code":"some-code","title":"Title","detail":"What to do.\nNow"}"#)
        }
        #expect(error == .refused(status: status, code: "some-code", message: "What to do. Now"))
    }

    @Test("429 and 503 are busy for as long as Retry-After says", arguments: [429, 503])
    func busy(status: Int) async throws {
        let cases: [(String, Double?)] = [
            ("Retry-After: 7", 7), ("Retry-After: 86401", 86_400), ("Retry-After: -5", nil), ("Retry-After: nan", nil),
            ("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", nil), ("X-Other: 1", nil),
        ]
        for (header, seconds) in cases {
            let error = try await failure { _ in
                ScriptedServer.answer("\(status) Busy", headers: [header])
            }
            #expect(error == .busy(retryAfterSeconds: seconds), "\(header)")
        }
    }

    @Test(
        "503 for a write that failed is no reason to wait with reading",
        arguments: ["write-failed", "disk-failed", "outcome-unknown", "database-failed"])
    func failedWrite(code: String) async throws {
        let error = try await failure { _ in
            ScriptedServer.answer(
                "503 Words", type: "application/problem+json", body: #"{"code":"\#(code)","title":"Title"}"#)
        }
        #expect(error == .refused(status: 503, code: code, message: "Title"))
    }

    @Test("a redirect is not followed, and the token is not sent on")
    func redirect() async throws {
        let other = try await ScriptedServer { _ in ScriptedServer.answer("200 OK") }
        let address = other.address
        let error = try await failure { _ in ScriptedServer.answer("307 Elsewhere", headers: ["Location: \(address)/"])
        }
        guard case .refused(307, "redirect", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(other.received.isEmpty)
        await other.stop()
    }

    @Test("an error page without a problem document is described by its status")
    func errorPage() async throws {
        let error = try await failure { _ in
            ScriptedServer.answer("404 Not Found", type: "text/html", body: "<html>\u{1B}[2J")
        }
        #expect(
            error
                == .refused(status: 404, code: "http-404", message: "no explanation; is kvsd running at this address?"))
    }

    @Test("no error shows the token, control characters or long texts of a daemon")
    func hostileTexts() async throws {
        let detail = "got \(Self.secret) \\u001b[2J\\u202e" + String(repeating: "x", count: 9_000)
        let error = try await failure { _ in
            ScriptedServer.answer("403 No", body: #"{"code":"c","detail":"\#(detail)"}"#)
        }
        let text = try #require(error).description
        #expect(!text.contains(Self.secret) && text.contains("(token)"))
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && text.count < 600)
    }

    @Test(
        "an answer without end is rejected as it arrives, whatever its status",
        arguments: ["200 OK", "404 No", "503 Busy"], ["Content-Length: 999999999", "Transfer-Encoding: chunked"])
    func oversized(status: String, framing: String) async throws {
        let error = try await failure { _ in
            let chunk = Data(repeating: 0x20, count: 5 * 1_024 * 1_024)
            return [
                .text("HTTP/1.1 \(status)\r\n\(framing)\r\n\r\n"), .text("500000\r\n"),
                .send(chunk),
            ]
        }
        guard case .malformed(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasSuffix(": the answer has more than 4194304 bytes"), "\(text)")
    }

    @Test(
        "an answer that violates the protocol is malformed",
        arguments: [
            "", "{", "[]", "null", "{}", "\u{FEFF}<html>", #"{"epoch":1}"#,
            Self.answer.replacing("\"cursor\":9", with: "\"cursor\":-9"),
            Self.answer.replacing("000000000002-", with: ""),
            Self.answer.replacing("\"deleted\":true", with: "\"value\":\"***\""),
            Self.answer.replacing("\"horizon\":1,", with: ""),
        ])
    func malformed(body: String) async throws {
        let error = try await failure { _ in ScriptedServer.answer("200 OK", body: body) }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("deeply nested JSON is malformed", arguments: ["[", #"{"epoch":"#])
    func nested(opening: String) async throws {
        let error = try await failure { _ in
            ScriptedServer.answer("200 OK", body: String(repeating: opening, count: 100_000))
        }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a connection that breaks during an answer is unreachable")
    func brokenMidway() async throws {
        for head in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"epoch\""] {
            let error = try await failure { _ in [.text(head), .close] }
            guard case .unreachable(let text) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.hasPrefix("request to 127.0.0.1:"))
            #expect(text.hasSuffix(" failed: connection lost"), "\(text)")
        }
    }

    @Test("a peer that does not speak HTTP is unreachable")
    func notHTTP() async throws {
        let error = try await failure { _ in [.text("SSH-2.0-OpenSSH_9.2\r\n\r\n"), .close] }
        guard case .unreachable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasSuffix(" failed: the peer does not speak HTTP"), "\(text)")
    }

    @Test("a refused connection asks whether kvsd is running")
    func refusedConnection() async throws {
        let server = try await ScriptedServer { _ in [] }
        await server.stop()
        let error = await failure(try transport(server.address))
        #expect(
            error == .unreachable("cannot connect to 127.0.0.1:\(server.port): connection refused; is kvsd running?"))
    }

    @Test("an unknown host is named")
    func unknownHost() async throws {
        let error = await failure(try transport("http://no-such-host.invalid:8722"))
        guard case .unreachable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasPrefix("cannot connect to no-such-host.invalid:8722: "), "\(text)")
    }

    @Test("a missing and an incomplete answer both end at the deadline")
    func deadline() async throws {
        for head in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"] {
            let server = try await ScriptedServer { _ in [.text(head)] }
            let error = await failure(try transport(server.address, request: .milliseconds(300)))
            #expect(
                error
                    == .unreachable("request to 127.0.0.1:\(server.port) failed: " + "no complete answer within 300 ms")
            )
            await server.waitUntilNoneIsOpen()
            await server.stop()
        }
    }

    @Test(
        "cancelling the task of a sync ends it at once and closes its connection",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"])
    func cancelled(answer: String) async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { _ in
            arrived.yield()
            return [.text(answer)]
        }
        let transport = try transport(server.address)
        let task = Task { await failure(transport) }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        let cancelled = SyncTransportError.unreachable("request to 127.0.0.1:\(server.port) failed: cancelled")
        #expect(await task.value == cancelled)
        await server.waitUntilNoneIsOpen()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(transport)
        }
        #expect(await late.value == cancelled)
        await server.stop()
    }

    @Test("a sync that waits for a connection ends when its task is cancelled")
    func cancelledInQueue() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { request in
            if request.line.hasPrefix("GET ") { return ScriptedServer.answer("404 No") }
            arrived.yield()
            return []
        }
        let address = try DaemonAddress(server.address)
        let token = try #require(AccessToken(Self.secret))
        let transport = HTTPSyncTransport(
            DaemonConnection(address: address, token: token, timeouts: HTTPTimeouts(), requestCount: 1))
        let first = Task { await failure(transport) }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        let waiting = Task { await failure(transport) }
        // A whole round trip over another connection gives the second request time to queue.
        _ = try? await DaemonClient(address: address, token: token).me()
        waiting.cancel()
        let cancelled = SyncTransportError.unreachable("request to 127.0.0.1:\(server.port) failed: cancelled")
        #expect(await waiting.value == cancelled)
        #expect(server.received.count == 2)
        first.cancel()
        #expect(await first.value == cancelled)
        await server.stop()
    }

    @Test("a closed transport fails, and closing it twice does nothing")
    func closed() async throws {
        let transport = try transport("http://127.0.0.1:1")
        transport.close()
        transport.close()
        let error = await failure(transport)
        #expect(error == .unreachable("request to 127.0.0.1:1 failed: the transport is closed"))
    }
}
