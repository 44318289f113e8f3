import Foundation
import KVStore
import KVStoreWire
import Testing

@testable import KVStoreHTTP

@Suite("The live stream over HTTP", .timeLimit(.minutes(5)))
struct SyncEventsTests {
    private static let stamp = StoreStamp(milliseconds: 2, counter: 0, replica: ReplicaID(rawValue: 1))
    private static let change = SequencedRecord(
        record: StoreRecord(key: "k", stamp: stamp, content: .value(Data([0, 1]))), sequence: 9)
    private static let tombstone = SequencedRecord(
        record: StoreRecord(key: "k", stamp: stamp, content: .tombstone), sequence: 10)
    private static let cursor = SyncCursor(epoch: EpochID(rawValue: 0xe1), sequence: 8)

    private func transport(_ server: ScriptedServer, silence: Duration = .seconds(40)) throws -> HTTPSyncTransport {
        try HTTPSyncTransport(
            address: DaemonAddress(server.address), token: #require(AccessToken("t0ken")),
            timeouts: HTTPTimeouts(silence: silence))
    }

    private func collect(_ transport: HTTPSyncTransport) async -> (events: [SyncEvent], error: SyncTransportError?) {
        var events: [SyncEvent] = []
        do {
            for try await event in transport.events(store: "default", since: Self.cursor) {
                events.append(event)
            }
            return (events, nil)
        } catch {
            return (events, error as? SyncTransportError)
        }
    }

    @Test("opened, changes, resets and heartbeats arrive in order; the end of the stream ends it")
    func events() async throws {
        let change = String(decoding: EventStreamText.change(Self.change), as: UTF8.self)
        let tombstone = String(decoding: EventStreamText.change(Self.tombstone), as: UTF8.self)
        let server = try await ScriptedServer { _ in
            ScriptedServer.stream(
                [
                    "retry: 1000\n\nevent: opened\ndata: {}\n\n", ":\n\n", change + "event: future\ndata: 1\n\n",
                    tombstone.prefix(40).description, tombstone.dropFirst(40) + "event: reset\n", "data: {}\n\n",
                ], isEnded: true)
        }
        let (events, error) = await collect(try transport(server))
        #expect(error == nil)
        #expect(events == [.opened, .heartbeat, .change(Self.change), .change(Self.tombstone), .reset])
        let request = try #require(server.received.first)
        #expect(request.line == "GET /v1/stores/default/changes?since=8&epoch=00000000000000e1 HTTP/1.1")
        #expect(request.header("Accept") == "text/event-stream")
        #expect(request.header("Authorization") == "Bearer t0ken")
        await server.stop()
    }

    @Test("a stream that breaks is unreachable after its complete events")
    func broken() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.stream(["event: opened\n\nevent: change\nda"]) + [.close]
        }
        let (events, error) = await collect(try transport(server))
        #expect(events == [.opened])
        guard case .unreachable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await server.stop()
    }

    @Test("a silent stream ends with an error and closes its connection")
    func silence() async throws {
        let server = try await ScriptedServer { _ in ScriptedServer.stream([":\n\n"]) }
        let (events, error) = await collect(try transport(server, silence: .milliseconds(300)))
        // On a busy machine the silence may begin before the first byte.
        #expect(events.allSatisfy { $0 == .heartbeat })
        #expect(error == .unreachable("request to 127.0.0.1:\(server.port) failed: no data for 300 ms"))
        await server.waitUntilNoneIsOpen()
        await server.stop()
    }

    @Test("a stream that never starts ends with an error")
    func noAnswer() async throws {
        let server = try await ScriptedServer { _ in [] }
        let (_, error) = await collect(try transport(server, silence: .milliseconds(300)))
        #expect(error == .unreachable("request to 127.0.0.1:\(server.port) failed: no data for 300 ms"))
        await server.stop()
    }

    @Test("cancelling the consumer closes the connection")
    func cancelled() async throws {
        let server = try await ScriptedServer { _ in ScriptedServer.stream([":\n\n"]) }
        let transport = try transport(server)
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in transport.events(store: "default", since: Self.cursor) {
                arrived.yield()
            }
        }
        var iterator = arrivals.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        await server.waitUntilNoneIsOpen()
        _ = await task.result
        await server.stop()
    }

    @Test("a consumer that stops reading closes the connection")
    func abandoned() async throws {
        let server = try await ScriptedServer { _ in ScriptedServer.stream([":\n\n"]) }
        let transport = try transport(server)
        for try await _ in transport.events(store: "default", since: Self.cursor) { break }
        await server.waitUntilNoneIsOpen()
        await server.stop()
    }

    @Test("statuses are the same errors as those of a sync")
    func statuses() async throws {
        let cases: [(String, SyncTransportError)] = [
            ("429 Busy", .busy(retryAfterSeconds: 3)), ("503 Busy", .busy(retryAfterSeconds: 3)),
            ("403 No", .refused(status: 403, code: "c", message: "d")),
            ("404 No", .refused(status: 404, code: "c", message: "d")),
        ]
        for (status, expected) in cases {
            let server = try await ScriptedServer { _ in
                ScriptedServer.answer(status, headers: ["Retry-After: 3"], body: #"{"code":"c","detail":"d"}"#)
            }
            #expect(await collect(try transport(server)).error == expected)
            await server.stop()
        }
    }

    @Test("an answer of another media type is malformed")
    func otherType() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer("200 OK", type: "text/html", body: "<html>")
        }
        guard case .malformed = await collect(try transport(server)).error else {
            Issue.record("not malformed")
            return
        }
        await server.stop()
    }

    @Test(
        "a malformed change ends the stream",
        arguments: [
            "event: change\ndata: {\n\n", "event: change\n\n",
            "event: change\ndata: {\"key\":\"k\",\"stamp\":\"x\",\"deleted\":true,\"seq\":1}\n\n",
            "event: change\ndata: "
                + "{\"key\":\"k\",\"stamp\":\"000000000002-00000000-0000000000000001\",\"seq\":1}\n\n",
            "event: change\ndata: {\"key\":\"k\","
                + "\"stamp\":\"000000000002-00000000-0000000000000001\",\"deleted\":true}\n\n",
        ])
    func malformed(text: String) async throws {
        let server = try await ScriptedServer { _ in ScriptedServer.stream([text]) }
        guard case .malformed = await collect(try transport(server)).error else {
            Issue.record("not malformed")
            return
        }
        await server.waitUntilNoneIsOpen()
        await server.stop()
    }

    @Test("a line without end is malformed, and not buffered")
    func endlessLine() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.stream(["data: " + String(repeating: "x", count: 2_200_000)])
        }
        guard case .malformed = await collect(try transport(server)).error else {
            Issue.record("not malformed")
            return
        }
        await server.waitUntilNoneIsOpen()
        await server.stop()
    }

    @Test("two megabytes of events arrive completely")
    func manyEvents() async throws {
        let count = 2_000
        let padding = String(repeating: "x", count: 1_000)
        let server = try await ScriptedServer { _ in
            ScriptedServer.stream((0..<count).map { _ in "event: opened\ndata: \(padding)\n\n" }, isEnded: true)
        }
        let transport = try transport(server)
        var received = 0
        for try await event in transport.events(store: "default", since: Self.cursor) {
            #expect(event == .opened)
            received += 1
        }
        #expect(received == count)
        await server.stop()
    }
}
