import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import KVStoreCore
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Limits at the edge", .timeLimit(.minutes(5)))
struct LimitTests {
    @Test(
        "connections leave room for the files that the daemon opens itself",
        arguments: [1, 64, 256, 1_024, 4_096, 65_536])
    func openFiles(count: Int) {
        var limits = ServerLimits()
        limits.fit(openFileCount: count)
        let connections = limits.connectionCount + limits.surplusConnectionCount
        #expect(limits.connectionCount > 0)
        #expect(connections <= max(2, count - ServerLimits.reservedFileCount))
        if count >= 65_536 { #expect(limits.connectionCount == ServerLimits().connectionCount) }
        var unknown = ServerLimits()
        unknown.fit(openFileCount: 0)
        #expect(unknown.connectionCount == ServerLimits().connectionCount)
    }

    @Test("a body of 2 MiB is read and one byte more is not", arguments: [false, true])
    func body(isTooLarge: Bool) async throws {
        let test = try TestDaemon()
        try await test.served { client, _ in
            let count = 2 * 1_024 * 1_024 + (isTooLarge ? 1 : 0)
            let response = try await client.execute(
                uri: "/v1/stores/s/sync", method: .post, headers: test.headers(TestDaemon.laptop),
                body: ByteBuffer(repeating: UInt8(ascii: " "), count: count))
            #expect(response.status == (isTooLarge ? .contentTooLarge : .badRequest))
        }
    }

    @Test("a body without a length is cut at the limit too")
    func chunkedBody() async throws {
        var limits = TestDaemon.patient
        limits.bodyByteCount = 1_000
        let test = try TestDaemon(limits: limits)
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                """
                POST /v1/stores/s/sync HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(test.token(TestDaemon.laptop))\r
                Transfer-Encoding: chunked\r
                \r
                800\r
                \(String(repeating: " ", count: 0x800))\r

                """)
            let answer = await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("body-too-large"))
        }
    }

    @Test("more changes than a request may carry are refused")
    func changes() async throws {
        let test = try TestDaemon()
        try await test.routed { client in
            for (count, status) in [(1_000, HTTPResponse.Status.ok), (1_001, .contentTooLarge)] {
                let changes = (0..<count).map { Samples.change("k\($0)") }
                let response = try await client.execute(
                    uri: "/v1/stores/s/sync", method: .post,
                    headers: test.headers(TestDaemon.laptop),
                    body: test.syncBody(Samples.request(changes)))
                #expect(response.status == status)
            }
        }
    }

    @Test("a compressed body is refused before it is read", arguments: ["gzip", "br", "deflate"])
    func encodings(encoding: String) async throws {
        let test = try TestDaemon()
        try await test.routed { client in
            let response = try await client.execute(
                uri: "/v1/stores/s/sync", method: .post,
                headers: test.headers(TestDaemon.laptop, [.contentEncoding: encoding]),
                body: ByteBuffer(string: "x"))
            #expect(response.status == .unsupportedMediaType)
            #expect(response.problemCode == "content-encoding")
        }
    }

    @Test("headers beyond 16 KiB are answered with 431")
    func headers() async throws {
        let test = try TestDaemon()
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                    + (0..<20).map { "X-\($0): \(String(repeating: "h", count: 1_000))\r\n" }
                    .joined() + "\r\n")
            let answer = await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 431 "))
            #expect(answer.contains("headers-too-large"))
        }
    }

    @Test("a connection that sends no request, or a piece of one, is closed")
    func slowHead() async throws {
        var limits = TestDaemon.patient
        limits.firstByteMilliseconds = 50
        let test = try TestDaemon(limits: limits)
        try await test.served { _, port in
            let silent = try await RawConnection.open(port: port)
            let slow = try await RawConnection.open(port: port)
            // It may be closed already.
            try? await slow.send("GET /healthz HT")
            #expect(await silent.rest() == "")
            #expect(await slow.rest() == "")
        }
    }

    @Test("a body that does not come in time is answered with 408 and the connection closed")
    func slowBody() async throws {
        var limits = TestDaemon.patient
        limits.requestMilliseconds = 50
        let test = try TestDaemon(limits: limits)
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                """
                POST /v1/stores/s/sync HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(test.token(TestDaemon.laptop))\r
                Content-Length: 100\r
                \r
                {"replica"
                """)
            let answer = await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("connections beyond the limit are told so, and others go on")
    func connections() async throws {
        var limits = TestDaemon.patient
        limits.connectionCount = 2
        let test = try TestDaemon(limits: limits)
        try await test.served { client, port in
            #expect(try await client.execute(uri: "/healthz", method: .get).status == .ok)
            let second = try await RawConnection.open(port: port)
            while test.server.connections.count < 2, !Task.isCancelled { await Task.yield() }
            let third = try await RawConnection.open(port: port)
            try await third.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = await third.rest()
            #expect(answer.hasPrefix("HTTP/1.1 503 "))
            #expect(answer.contains("too-many-connections"))
            #expect(try await client.execute(uri: "/healthz", method: .get).status == .ok)
            await second.close()
        }
    }

    @Test("a device that asks too often is told to wait, and another one is not")
    func rate() async throws {
        var limits = TestDaemon.patient
        limits.requestsPerSecond = 0.001
        limits.requestBurst = 5
        let test = try TestDaemon(limits: limits)
        try await test.routed { client in
            func me(_ device: String) async throws -> TestResponse {
                try await client.execute(
                    uri: "/v1/me", method: .get, headers: test.headers(device))
            }
            for _ in 0..<5 { #expect(try await me(TestDaemon.laptop).status == .ok) }
            let refused = try await me(TestDaemon.laptop)
            #expect(refused.status == .tooManyRequests)
            // A thousand seconds for the next one, less what has passed since the first.
            let wait = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
            #expect((1...1_000).contains(wait))
            #expect(try await me(TestDaemon.reader).status == .ok)
        }
    }

    @Test("an address that guesses is told to wait; a valid token still works from there")
    func guessing() async throws {
        var limits = TestDaemon.patient
        limits.failedAuthenticationsPerMinute = 3
        let test = try TestDaemon(limits: limits)
        try await test.routed { client in
            func guess() async throws -> TestResponse {
                try await client.execute(
                    uri: "/v1/me", method: .get,
                    headers: [.authorization: "Bearer ubq_\(UInt64.random(in: 0...UInt64.max))"])
            }
            // One more is let through for every 20 seconds that this takes.
            var answers: [TestResponse] = []
            repeat {
                answers.append(try await guess())
            } while answers.last?.status == .unauthorized && answers.count < 30
            #expect(answers.count > 3)
            let refused = try #require(answers.last)
            #expect(refused.status == .tooManyRequests)
            #expect(refused.problemCode == "failed-authentications")
            #expect(refused.headers[.retryAfter] != nil)
            let valid = try await client.execute(
                uri: "/v1/me", method: .get, headers: test.headers(TestDaemon.laptop))
            #expect(valid.status == .ok)
        }
    }

    private func head(_ start: String, _ test: TestDaemon, _ more: String = "") -> String {
        "\(start) HTTP/1.1\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(test.token(TestDaemon.laptop))\r\n\(more)\r\n"
    }

    @Test("a client that reads no answers is disconnected")
    func unreadAnswers() async throws {
        var limits = TestDaemon.patient
        limits.slowReaderMilliseconds = 100
        let test = try TestDaemon(limits: limits)
        try await test.served { _, port in
            let value = String(repeating: "v", count: 1_000_000)
            _ = try await test.server.engine.sync(
                Samples.request([Samples.change("k", Samples.stamp(), value)]),
                store: StoreID(account: "default", name: "s"))
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(
                String(repeating: head("GET /v1/stores/s/keys/k", test), count: 20))
            while test.server.metrics.counters.slowReaders == 0 { await Task.yield() }
            await connection.close()
        }
    }

    @Test("a short body that an error answer did not need does not cost the connection")
    func skippedBody() async throws {
        let test = try TestDaemon()
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                "POST /v1/stores/s/sync HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
            try await connection.wait(for: "\"unauthorized\"")
            try await connection.send("{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await connection.wait(for: "ok\n")
            await connection.close()
        }
    }

    @Test(
        "a value whose sender stops in the middle is not stored",
        arguments: [
            "Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        ])
    func halfBody(rest: String) async throws {
        let test = try TestDaemon()
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            var text = head(
                "PUT /v1/stores/s/keys/k", test, "Content-Type: application/octet-stream\r\n")
            text.removeLast(2)
            try await connection.send(text + rest)
            try await connection.channel.close(mode: .output)
            _ = await connection.rest()
            while test.server.connections.count > 1 { await Task.yield() }
            #expect(try await test.server.engine.value(of: "k", in: store) == nil)
        }
    }

    @Test("a request behind a live stream closes their connection")
    func requestBehindStream() async throws {
        let test = try TestDaemon()
        try await test.served { _, port in
            _ = try await test.server.engine.sync(
                Samples.request(), store: StoreID(account: "default", name: "s"))
            let connection = try await RawConnection.open(port: port)
            try await connection.send(head("GET /v1/stores/s/changes", test))
            try await connection.wait(for: "event: opened")
            try await connection.send(head("GET /v1/me", test))
            #expect(!(await connection.rest()).contains("HTTP/1.1"))
            let together = try await RawConnection.open(port: port)
            try await together.send(
                head("GET /v1/stores/s/changes", test) + head("GET /v1/me", test))
            _ = await together.rest()
            while test.server.engine.watchers.count > 0 { await Task.yield() }
        }
    }
}
