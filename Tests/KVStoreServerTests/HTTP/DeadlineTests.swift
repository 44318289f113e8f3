import Dispatch
import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Request deadline", .engines, .timeLimit(.minutes(5)))
struct DeadlineTests {
    private static var hasty: ServerLimits {
        var limits = TestServer.patient
        limits.requestMilliseconds = 50
        return limits
    }

    private func request(_ method: String, _ path: String, _ test: TestServer, _ more: String = "") -> String {
        let type = method == "PUT" ? MediaType.bytes : MediaType.json
        return test.request("\(method) \(path)", "Content-Type: \(type)\r\n\(more)")
    }

    @Test("every route is answered in time while the disk hangs, and none with what it may lack", .logOnly)
    func everyRoute() async throws {
        let test = try TestServer(limits: Self.hasty)
        let store = StoreID(account: "default", name: "s")
        let sync = String(decoding: WireJSON.encode(Samples.request([Samples.change("l")])), as: UTF8.self)
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: store)
            let (gate, began) = test.storage.holdSyncs()
            let waiting = Task {
                try await test.server.engine.sync(Samples.request([Samples.change("k")]), store: store)
            }
            for await _ in began { break }
            for (method, path) in TestServer.routes {
                let connection = try await RawConnection.open(port: port)
                let body = method == "POST" ? sync : method == "PUT" ? "v" : ""
                try await connection.send(
                    request(
                        method, path, test,
                        "Connection: close\r\n"
                            + (body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"))
                        + body)
                if path.hasSuffix("/changes") {
                    try await connection.wait(for: "event: opened")
                    await connection.close()
                    continue
                }
                let answer = await connection.rest()
                let waits = path.contains("/stores/s")
                let status = waits ? 503 : path.contains("/devices/") || path == "/v1/pairings" ? 403 : 200
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(path): \(answer)")
                #expect(answer.contains("outcome-unknown") == waits, "\(path)")
            }
            test.storage.releaseSyncs()
            gate.signal()
            _ = try await waiting.value
        }
    }

    @Test("a body that does not arrive in time stores nothing, on every route that reads one")
    func stalledBodies() async throws {
        var limits = Self.hasty
        // A database that answers later than the client is not what this is about.
        limits.requestMilliseconds = 250
        let test = try TestServer(limits: limits)
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            for (method, path) in TestServer.routes where ["PUT", "POST", "PATCH"].contains(method) {
                for framing in ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"] {
                    let connection = try await RawConnection.open(port: port)
                    try await connection.send(
                        request(method, path, test, framing)
                            + (framing.hasPrefix("C") ? "part" : "4\r\npart\r\n"))
                    let answer = await connection.rest()
                    #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(path): \(answer)")
                }
            }
            // The client of the test has one of its own.
            try await wait { test.server.metrics.counters.connections <= 1 }
            #expect(try await test.server.engine.value(of: "k", in: store) == nil)
        }
    }

    @Test("a commit whose sync takes too long has an unknown outcome, and later requests work", .logOnly)
    func slowDisk() async throws {
        let test = try TestServer(limits: Self.hasty)
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: store)
            let (gate, _) = test.storage.holdSyncs()
            let answer = try await RawConnection.answer(
                to: request("PUT", "/v1/stores/s/keys/k", test, "Content-Length: 1\r\n") + "v", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("outcome-unknown"))
            test.storage.releaseSyncs()
            gate.signal()
            #expect(try await test.server.engine.value(of: "k", in: store) != nil)
        }
    }

    @Test("a lost request is logged with its id and device, and without token, store and key", .logOnly)
    func logging() async throws {
        let log = LogLines()
        let test = try TestServer(limits: Self.hasty, logger: log.logger)
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: StoreID(account: "default", name: "s"))
            let (gate, _) = test.storage.holdSyncs()
            let answer = try await RawConnection.answer(
                to: request("PUT", "/v1/stores/s/keys/k", test, "Content-Length: 1\r\n") + "v", port: port)
            test.storage.releaseSyncs()
            gate.signal()
            let id = try #require(answer.firstMatch(of: /Ubiquity-Request: ([0-9a-f]{16})\r\n/)).1
            #expect(
                log.all.filter { $0.hasPrefix("request failed") } == [
                    "request failed code=outcome-unknown device=00000000000000a1 method=PUT "
                        + "path=/v1/stores/{store}/keys/{key} request=\(id)"
                ])
        }
    }

    @Test("a live stream outlives the deadline")
    func stream() async throws {
        var limits = Self.hasty
        limits.heartbeatMilliseconds = 20
        let test = try TestServer(limits: limits)
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: store)
            var reader: EventReader
            // On a busy machine not even the stream opens before the deadline.
            repeat {
                let token = test.token(TestServer.laptop)
                reader = try await EventReader(port: port, path: "/v1/stores/s/changes", token: token)
            } while await reader.next()?.name != "opened"
            for _ in 0..<10 { #expect(await reader.next()?.comment == "hb") }
            await reader.connection.close()
        }
    }
}
