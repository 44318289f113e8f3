import Foundation
import HTTPTypes
import KVStoreCore
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Limits", .engines, .timeLimit(.minutes(5)))
struct LimitTests {
    @Test(
        "the connection limit leaves descriptors for the server's own files",
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

    @Test("a body of 2 MiB is read, one byte more is rejected", arguments: [false, true])
    func body(isTooLarge: Bool) async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            let count = 2 * 1_024 * 1_024 + (isTooLarge ? 1 : 0)
            let response = try await test.send(
                client, .post, "/v1/stores/s/sync", body: ByteBuffer(repeating: UInt8(ascii: " "), count: count))
            #expect(response.status == (isTooLarge ? .contentTooLarge : .badRequest))
        }
    }

    @Test("a chunked body beyond the limit is rejected")
    func chunkedBody() async throws {
        let test = try TestServer { $0.bodyByteCount = 1_000 }
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                test.request("POST /v1/stores/s/sync", "Transfer-Encoding: chunked\r\n")
                    + "800\r\n\(String(repeating: " ", count: 0x800))\r\n")
            let answer = await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("body-too-large"))
        }
    }

    @Test("too many changes in a request are rejected")
    func changes() async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            for (count, status) in [(1_000, HTTPResponse.Status.ok), (1_001, .contentTooLarge)] {
                let changes = (0..<count).map { Samples.change("k\($0)") }
                let response = try await test.send(
                    client, .post, "/v1/stores/s/sync", body: test.syncBody(Samples.request(changes)))
                #expect(response.status == status)
            }
        }
    }

    @Test("a compressed body is rejected before it is read", arguments: ["gzip", "br", "deflate"])
    func encodings(encoding: String) async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            let response = try await test.send(
                client, .post, "/v1/stores/s/sync", [.contentEncoding: encoding], body: ByteBuffer(string: "x"))
            #expect(response.status == .unsupportedMediaType)
            #expect(response.problemCode == "content-encoding")
        }
    }

    @Test("headers of more than 16 KiB are answered with 431")
    func headers() async throws {
        let test = try TestServer()
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

    @Test("a connection without a complete first request is closed")
    func slowHead() async throws {
        let test = try TestServer { $0.firstByteMilliseconds = 50 }
        try await test.served { _, port in
            let silent = try await RawConnection.open(port: port)
            let slow = try await RawConnection.open(port: port)
            // It may be closed already.
            try? await slow.send("GET /healthz HT")
            #expect(await silent.rest() == "")
            #expect(await slow.rest() == "")
        }
    }

    @Test("a body that does not arrive in time is answered with 408, and the connection is closed")
    func slowBody() async throws {
        let test = try TestServer {
            // Long enough for a database to answer first.
            $0.requestMilliseconds = 500
        }
        try await test.served { _, port in
            let answer = try await RawConnection.answer(
                to: test.request("POST /v1/stores/s/sync", "Content-Length: 100\r\n") + #"{"replica""#, port: port)
            #expect(answer.hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("connections beyond the limit are answered with 503, and others still work")
    func connections() async throws {
        let test = try TestServer { $0.connectionCount = 2 }
        try await test.served { client, port in
            #expect(try await client.execute(uri: "/healthz", method: .get).status == .ok)
            let second = try await RawConnection.open(port: port)
            try await wait { test.server.metrics.counters.connections >= 2 }
            let answer = try await RawConnection.answer(
                to: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 503 "))
            #expect(answer.contains("too-many-connections"))
            #expect(try await client.execute(uri: "/healthz", method: .get).status == .ok)
            await second.close()
        }
    }

    @Test("a device beyond its rate has to wait, others do not")
    func rate() async throws {
        let test = try TestServer {
            $0.requestsPerSecond = 0.001
            $0.requestBurst = 5
        }
        try await test.served { client, _ in
            func me(_ device: String) async throws -> TestResponse {
                try await test.send(client, .get, "/v1/me", as: device)
            }
            for _ in 0..<5 { #expect(try await me(TestServer.laptop).status == .ok) }
            let refused = try await me(TestServer.laptop)
            #expect(refused.status == .tooManyRequests)
            // A thousand seconds for the next one, less what has passed since the first.
            let wait = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
            #expect((1...1_000).contains(wait))
            #expect(try await me(TestServer.reader).status == .ok)
        }
    }

    @Test("a trusted device has no limits on requests and streams, until the trust is taken back")
    func trust() async throws {
        let test = try TestServer {
            $0.requestsPerSecond = 0.001
            $0.requestBurst = 5
            $0.streamsPerDevice = 1
        }
        let store = StoreID(account: "default", name: "s")
        try await test.served { client, port in
            _ = try await test.server.engine.sync(Samples.request([Samples.change("k")]), store: store)
            func me(_ device: String) async throws -> HTTPResponse.Status {
                try await test.send(client, .get, "/v1/me", as: device).status
            }
            func trust(_ isTrusted: Bool) throws {
                try test.deviceStorage.change(.all) { table throws(ServerError) in
                    _ = try table.setTrust(TestServer.laptop, account: nil, isTrusted)
                }
            }
            // The server does not know the device yet.
            try trust(true)
            for _ in 0..<20 { #expect(try await me(TestServer.laptop) == .ok) }
            for _ in 0..<5 { #expect(try await me(TestServer.reader) == .ok) }
            #expect(try await me(TestServer.reader) == .tooManyRequests)
            var streams: [EventReader] = []
            for _ in 0..<3 {
                streams.append(try await test.openStream(port))
            }
            try await test.applied { try trust(false) }
            let refused = try await test.send(client, .get, "/v1/stores/s/changes")
            #expect(refused.problemCode == "too-many-streams")
            for _ in 0..<4 { #expect(try await me(TestServer.laptop) == .ok) }
            #expect(try await me(TestServer.laptop) == .tooManyRequests)
            // A change of trust ends no stream.
            _ = try await test.server.engine.sync(Samples.request([Samples.change("l")]), store: store)
            for index in streams.indices {
                #expect(await streams[index].next()?.id == "1")
                #expect(await streams[index].next()?.id == "2")
                await streams[index].connection.close()
            }
        }
    }

    @Test("an address with failed authentications has to wait, except with a valid token")
    func guessing() async throws {
        let test = try TestServer { $0.failedAuthenticationsPerMinute = 3 }
        try await test.served { client, _ in
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
            let valid = try await test.send(client, .get, "/v1/me")
            #expect(valid.status == .ok)
        }
    }

    @Test("a client that reads no answers is disconnected")
    func unreadAnswers() async throws {
        let test = try TestServer { $0.slowReaderMilliseconds = 100 }
        try await test.served { _, port in
            let value = String(repeating: "v", count: 1_000_000)
            _ = try await test.server.engine.sync(
                Samples.request([Samples.change("k", Samples.stamp(), value)]),
                store: StoreID(account: "default", name: "s"))
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(String(repeating: test.request("GET /v1/stores/s/keys/k"), count: 20))
            try await wait { test.server.metrics.counters.slowReaders > 0 }
            await connection.close()
        }
    }

    @Test("a short body after an early error answer is skipped, and the connection stays open")
    func skippedBody() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let connection = try await RawConnection.open(
                port: port, sending: "POST /v1/stores/s/sync HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
            try await connection.wait(for: "\"unauthorized\"")
            try await connection.send("{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await connection.wait(for: "ok\n")
            await connection.close()
        }
    }

    @Test(
        "a value whose body is cut off is not stored",
        arguments: [
            "Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        ])
    func halfBody(rest: String) async throws {
        let test = try TestServer()
        let store = StoreID(account: "default", name: "s")
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            var text = test.request("PUT /v1/stores/s/keys/k", "Content-Type: application/octet-stream\r\n")
            // One character: the empty line.
            text.removeLast()
            try await connection.send(text + rest)
            try await connection.channel.close(mode: .output)
            let answer = await connection.rest()
            #expect(answer.contains("the body is incomplete"), "\(answer)")
            try await wait { test.server.metrics.counters.connections <= 1 }
            #expect(try await test.server.engine.value(of: "k", in: store) == nil)
        }
    }

    @Test("a request after a live stream closes the connection")
    func requestBehindStream() async throws {
        let test = try TestServer { $0.heartbeatMilliseconds = 20 }
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: StoreID(account: "default", name: "s"))
            let connection = try await RawConnection.open(port: port, sending: test.request("GET /v1/stores/s/changes"))
            try await connection.wait(for: "event: opened")
            try await connection.send(test.request("GET /v1/me"))
            #expect(!(await connection.rest()).contains("HTTP/1.1"))
            let together = try await RawConnection.open(
                port: port, sending: test.request("GET /v1/stores/s/changes") + test.request("GET /v1/me"))
            _ = await together.rest()
            try await wait { test.server.engine.watcherCount == 0 }
        }
    }
}
