import Dispatch
import Foundation
import HTTPTypes
import HummingbirdTesting
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@testable import KVStoreServer

@Suite("Request deadline", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private static var hasty: ServerLimits {
        var limits = TestServer.patient
        limits.requestMilliseconds = 50
        return limits
    }

    private func request(_ route: Route, _ test: TestServer, _ more: String = "") -> String {
        let path = route.path.replacing(":store", with: "s").replacing(":key", with: "k")
        return """
            \(route.method) /\(path) HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(test.token(TestServer.laptop))\r
            Content-Type: application/octet-stream\r
            \(more)\r

            """
    }

    @Test("every route is answered in time, even if its handler never returns")
    func everyRoute() async throws {
        let test = try TestServer(limits: Self.hasty)
        let (never, gate) = AsyncStream.makeStream(of: Never.self)
        let stalled = Route.all.map { route in
            Route(route.method, route.path) { _ in
                { _, _ in
                    for await _ in never {}
                    throw Problem.internalError
                }
            }
        }
        try await test.served(routes: stalled) { _, port in
            for route in stalled {
                let connection = try await RawConnection.open(port: port)
                let hasBody = route.method == .put || route.method == .post
                try await connection.send(
                    request(route, test, hasBody ? "Content-Length: 2\r\n" : "")
                        + (hasBody ? "{}" : ""))
                let answer = await connection.rest()
                #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(route.path): \(answer)")
                #expect(answer.contains("outcome-unknown"), "\(route.path)")
            }
            gate.finish()
        }
    }

    @Test("a body that does not arrive in time stores nothing, on every route that reads one")
    func stalledBodies() async throws {
        let test = try TestServer(limits: Self.hasty)
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            for route in Route.all where route.method == .put || route.method == .post {
                for framing in ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"] {
                    let connection = try await RawConnection.open(port: port)
                    try await connection.send(
                        request(route, test, framing)
                            + (framing.hasPrefix("C") ? "part" : "4\r\npart\r\n"))
                    let answer = await connection.rest()
                    #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(route.path): \(answer)")
                }
            }
            // The client of the test has one of its own.
            while test.server.metrics.counters.connections > 1 { await Task.yield() }
            #expect(try await test.server.engine.value(of: "k", in: store) == nil)
        }
    }

    @Test("a commit whose sync takes too long has an unknown outcome, and later requests work")
    func slowDisk() async throws {
        let test = try TestServer(limits: Self.hasty)
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: store)
            let (gate, _) = test.storage.holdSyncs()
            let put = try #require(Route.all.first { $0.method == .put })
            let connection = try await RawConnection.open(port: port)
            try await connection.send(request(put, test, "Content-Length: 1\r\n") + "v")
            let answer = await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("outcome-unknown"))
            test.storage.releaseSyncs()
            gate.signal()
            #expect(try await test.server.engine.value(of: "k", in: store) != nil)
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
            var reader = try await EventReader(
                port: port, path: "/v1/stores/s/changes", token: test.token(TestServer.laptop))
            #expect(await reader.next()?.name == "opened")
            for _ in 0..<10 { #expect(await reader.next()?.comment == "hb") }
            await reader.connection.close()
        }
    }
}
