import Foundation
import HTTPTypes
import KVStoreCore
import NIOCore
import ServerTestSupport
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Requests of a connection", .engines, .timeLimit(.minutes(5)))
struct RequestPathTests {
    private let store = StoreID(account: "default", name: "s")

    private static let bytes = "Content-Type: application/octet-stream\r\n"

    @Test(
        "HEAD gives the head of GET",
        arguments: TestServer.routes.filter { route in
            route.method == "GET" && !route.path.hasSuffix("/changes")
                // Its length changes with each answer.
                && route.path != "/metrics"
        }.map(\.path) + ["/v1/stores/s/keys/none", "/nothing"])
    func head(path: String) async throws {
        let test = try TestServer(stored: [Samples.change("k")])
        try await test.served { _, port in
            func answer(_ method: String) async throws -> String {
                let connection = try await RawConnection.open(
                    port: port, sending: test.request("\(method) \(path)", "Connection: close\r\n"))
                return await connection.rest().split(separator: "\r\n", omittingEmptySubsequences: false)
                    .filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
            }
            let get = try await answer("GET")
            let end = try #require(get.range(of: "\r\n\r\n"))
            #expect(get.endIndex > end.upperBound)
            #expect(try await answer("HEAD") == get[..<end.upperBound])
        }
    }

    @Test(
        "a method that a resource does not have is answered with 405 and those it has",
        arguments: [
            ("POST /healthz", "GET, HEAD"), ("DELETE /v1/stores", "GET, HEAD"),
            ("GET /v1/stores/s/sync", "POST"), ("HEAD /v1/stores/s/changes", "GET"),
            ("POST /v1/stores/s/keys/k", "GET, HEAD, PUT, DELETE"),
            ("GET /v1/devices/0", "PATCH, DELETE"), ("DELETE /v1/devices", "GET, HEAD"),
        ])
    func methods(start: String, allowed: String) async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let answer = try await RawConnection.answer(to: test.request(start, "Connection: close\r\n"), port: port)
            #expect(answer.hasPrefix("HTTP/1.1 405 "))
            #expect(answer.contains("\r\nAllow: \(allowed)\r\n"))
        }
    }

    @Test("a client that expects 100 Continue gets it before it sends the body, except with HTTP/1.0")
    func expectation() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let expecting = Self.bytes + "Expect: 100-continue\r\nContent-Length: 1\r\n"
            let connection = try await RawConnection.open(
                port: port, sending: test.request("PUT /v1/stores/s/keys/k", expecting))
            try await connection.wait(for: "HTTP/1.1 100 Continue\r\n\r\n")
            try await connection.send("v")
            try await connection.wait(for: "HTTP/1.1 200 ")
            await connection.close()
            // Nothing that has to be read before the answer.
            let refused = try await RawConnection.open(
                port: port, sending: test.request("PUT /v1/stores/s/keys/k", "Content-Encoding: x\r\n" + expecting))
            #expect(await refused.rest().hasPrefix("HTTP/1.1 415 "))
            let old = try await RawConnection.open(
                port: port, sending: test.request("PUT /v1/stores/s/keys/k", version: "1.0", expecting) + "w")
            #expect(await old.rest().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("pipelined requests are answered in order")
    func pipelined() async throws {
        let test = try TestServer { $0.requestBurst = 1_000 }
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            var text = ""
            for index in 0..<50 {
                let path = "/v1/stores/s/keys/k\(index)"
                text += test.request("PUT \(path)", Self.bytes, body: "value \(index)")
                text += test.request("GET \(path)", "Accept: application/octet-stream\r\n")
                text += test.request("DELETE \(path)", index == 49 ? "Connection: close\r\n" : "")
            }
            try await connection.send(text)
            let answers = await connection.rest().components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(answers.count == 150)
            for (index, answer) in answers.enumerated() {
                #expect(answer.hasPrefix("200 "))
                switch index % 3 {
                case 0: #expect(answer.contains("\"key\":\"k\(index / 3)\""))
                case 1: #expect(answer.hasSuffix("\r\n\r\nvalue \(index / 3)"))
                default: #expect(answer.contains("\"deleted\":true"))
                }
            }
        }
    }

    @Test("a connection with HTTP/1.0 ends with its answer, and its live stream is not chunked")
    func oldVersion() async throws {
        let test = try TestServer(stored: [Samples.change("k")])
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port, sending: "GET /healthz HTTP/1.0\r\n\r\n")
            #expect(await connection.rest().contains("\r\nConnection: close\r\n"))
            let reader = try await RawConnection.open(
                port: port, sending: test.request("GET /v1/stores/s/changes", version: "1.0"))
            var text = ""
            for await buffer in reader.bytes {
                text += String(buffer: buffer)
                if text.hasSuffix("\n\n"), text.contains("event: change") { break }
            }
            let parts = text.components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 2)
            #expect(parts[0].contains("\r\nConnection: close") && !parts[0].contains("chunked"))
            #expect(parts[1].hasPrefix("event: opened\n"))
            await reader.close()
        }
    }

    @Test("what is not HTTP is refused after the answers to the requests before it")
    func garbage() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                test.request("PUT /v1/stores/s/keys/k", Self.bytes, body: "v")
                    + "\u{1}\u{2}\r\n\r\n")
            let answers = await connection.rest().components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(answers.map { $0.prefix(3) } == ["200", "400"])
        }
    }

    @Test(
        "the answer to a request for another protocol says that the connection ends with it",
        arguments: [
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
            "CONNECT example.org:80 HTTP/1.1\r\nHost: example.org:80\r\n\r\n",
        ])
    func upgrade(request: String) async throws {
        let test = try TestServer { $0.idleMilliseconds = 2_000 }
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port, sending: request)
            #expect(await connection.rest().contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("a request line without an end is refused at the limit on headers")
    func longLine() async throws {
        let test = try TestServer { $0.firstByteMilliseconds = 5_000 }
        try await test.served { _, port in
            let connection = try await RawConnection.open(
                port: port, sending: "GET /" + String(repeating: "a", count: 100_000))
            #expect(await connection.rest().hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test(
        "connections without a token do not lock out a device",
        arguments: ["", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"], [2, 64])
    func lockout(sent: String, surplus: Int) async throws {
        let test = try TestServer {
            $0.connectionCount = 8
            $0.surplusConnectionCount = surplus
        }
        try await test.served { client, port in
            var connections: [RawConnection] = []
            for _ in 0..<20 {
                let connection = try await RawConnection.open(port: port)
                // It may be closed already.
                try? await connection.send(sent)
                connections.append(connection)
            }
            let answer = try await test.send(client, .get, "/v1/me")
            #expect(answer.status == .ok)
            for connection in connections { await connection.close() }
            try await wait { test.server.metrics.counters.connections <= 1 }
        }
    }

    enum BodyEnd: CaseIterable { case complete, cut, closed, refused }

    @Test("bodies in memory are bounded, and freed however their requests end", arguments: BodyEnd.allCases)
    func bodies(end: BodyEnd) async throws {
        let test = try TestServer {
            $0.pendingBodyByteCount = 1_000
            $0.bodyByteCount = 900
        }
        try await test.served { _, port in
            func put(_ framing: String) async throws -> RawConnection {
                let connection = try await RawConnection.open(
                    port: port, sending: test.request("PUT /v1/stores/s/keys/k", Self.bytes + framing))
                return connection
            }
            let chunk = "384\r\n" + String(repeating: "v", count: 900) + "\r\n"
            let first = try await put("Transfer-Encoding: chunked\r\n")
            try await first.send(chunk)
            // Otherwise the second body may be counted first, and the first one refused.
            let counts = test.server.tables[0].counts
            try await wait { counts.bodyBytes.load(ordering: .relaxed) == 900 }
            var refusal = ""
            // A reset can overtake the answer.
            while !refusal.hasPrefix("HTTP/1.1 503 ") {
                let second = try await put("Content-Length: 101\r\nConnection: close\r\n")
                // It may be refused already.
                try? await second.send(String(repeating: "w", count: 101))
                refusal = await second.rest()
            }
            #expect(refusal.contains("\"busy\""))
            switch end {
            case .complete: try await first.send("0\r\n\r\n")
            case .cut: try await first.channel.close(mode: .output)
            case .closed: await first.close()
            case .refused: try await first.send("1\r\nv\r\n")
            }
            var answer = ""
            while !answer.hasPrefix("HTTP/1.1 200 ") {
                let second = try await put("Content-Length: 900\r\nConnection: close\r\n")
                try? await second.send(String(repeating: "w", count: 900))
                answer = await second.rest()
            }
            await first.close()
        }
    }
}
