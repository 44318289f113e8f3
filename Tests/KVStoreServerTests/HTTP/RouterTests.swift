import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@testable import KVStoreServer

@Suite("Router", .engines, .timeLimit(.minutes(5)))
struct RouterTests {
    private let test = try! TestServer()

    @Test("a value pushed by one device is pulled by another")
    func sync() async throws {
        try await test.served { client, _ in
            let pushed = try await test.send(
                client, .post, "/v1/stores/s/sync", body: test.syncBody(Samples.request([Samples.change("a")])))
            #expect(pushed.status == .ok)
            let first = try pushed.decoded(SyncResponse.self)
            #expect(first.isInitial && first.cursor.sequence == 1 && first.changes.isEmpty)
            let pulled = try await test.send(
                client, .post, "/v1/stores/s/sync", as: TestServer.reader, body: test.syncBody(Samples.request()))
            let second = try pulled.decoded(SyncResponse.self)
            #expect(second.changes.map(\.record) == [Samples.change("a")])
            #expect(second.cursor.epoch == first.cursor.epoch)
        }
    }

    @Test("unknown fields are ignored")
    func unknownFields() async throws {
        try await test.served { client, _ in
            let response = try await client.execute(
                uri: "/v1/stores/s/sync", method: .post, headers: test.headers(TestServer.laptop),
                body: ByteBuffer(
                    string: """
                        {"replica":"8f3ac0de51b20417","changes":[{"key":"a","later":[1],
                        "stamp":"\(Samples.stamp())","deleted":true}],"another":{"field":null}}
                        """))
            #expect(response.status == .ok)
        }
    }

    @Test(
        "a malformed request is answered with a stable code",
        arguments: [
            ("", "malformed"), ("[]", "malformed"), ("{\"replica\":", "malformed"),
            (#"{"replica":"8f3ac0de51b20417","epoch":"0000000000000001","since":-1,"changes":[]}"#, "malformed"),
            (#"{"replica":"8f3ac0de51b20417","epoch":"0000000000000001","since":1e400,"changes":[]}"#, "malformed"),
            (#"{"replica":"x","changes":[]}"#, "malformed"),
            (#"{"replica":"8f3ac0de51b20417","changes":[{"key":"a","stamp":"s","value":"%"}]}"#, "malformed"),
            (String(repeating: "[", count: 100_000), "too-deep"),
        ])
    func malformed(body: String, code: String) async throws {
        try await test.served { client, _ in
            let response = try await test.send(client, .post, "/v1/stores/s/sync", body: ByteBuffer(string: body))
            #expect(response.status == .badRequest)
            #expect(response.problemCode == code)
            #expect(response.headers[.contentType] == "application/problem+json")
        }
    }

    @Test("invalid UTF-8 in a body is rejected, not repaired")
    func badText() async throws {
        try await test.served { client, _ in
            var body = ByteBuffer(string: #"{"replica":"8f3ac0de51b20417","changes":[{"key":""#)
            body.writeBytes([0xFF, 0xC0])
            body.writeString(#"","stamp":"\#(Samples.stamp())","deleted":true}]}"#)
            let response = try await test.send(client, .post, "/v1/stores/s/sync", body: body)
            #expect(response.status == .badRequest)
        }
    }

    @Test("a key can be put, read as JSON and as bytes, and deleted")
    func keys() async throws {
        try await test.served { client, _ in
            let path = "/v1/stores/s/keys/%C3%A4%2F%20b"
            let put = try await test.send(
                client, .put, path, [.contentType: "application/octet-stream"], body: ByteBuffer(string: "bytes"))
            #expect(put.status == .ok)
            let json = try await test.send(client, .get, path)
            #expect(try json.decoded(SequencedRecord.self).record.key == "ä/ b")
            #expect(try json.decoded(SequencedRecord.self).record.content == .value(Data("bytes".utf8)))
            let bytes = try await test.send(client, .get, path, [.accept: "application/octet-stream"])
            #expect(bytes.text == "bytes")
            #expect(bytes.headers[HTTPField.Name("Ubiquity-Sequence")!] == "1")
            let deleted = try await test.send(client, .delete, path)
            #expect(deleted.status == .ok)
            let gone = try await test.send(client, .get, path)
            #expect(gone.status == .notFound && gone.problemCode == "unknown-key")
            let again = try await test.send(client, .delete, path)
            #expect(again.status == .notFound)
        }
    }

    @Test(
        "an invalid store name never creates a store, however it is encoded",
        arguments: [
            "..", "%2e%2e", ".hidden", "a%2Fb", "a%00", "%C3%A4", "a%20b", "%", "%FF",
            String(repeating: "s", count: 129),
        ])
    func storeNames(name: String) async throws {
        try await test.served { client, _ in
            let response = try await test.send(
                client, .post, "/v1/stores/\(name)/sync", body: test.syncBody(Samples.request()))
            #expect(response.status == .badRequest)
            #expect(response.problemCode == "bad-store-name")
            #expect(try await test.server.engine.storeList(ofAccount: "default").isEmpty)
        }
    }

    @Test("a full disk answers 507 to writes, reads still work, and the server recovers", .logOnly)
    func fullDisk() async throws {
        try await test.served { client, _ in
            func put(_ key: String, _ count: Int) async throws -> TestResponse {
                try await test.send(
                    client, .put, "/v1/stores/s/keys/\(key)", [.contentType: "application/octet-stream"],
                    body: ByteBuffer(repeating: 7, count: count))
            }
            #expect(try await put("a", 10).status == .ok)
            test.storage.aim(.fail(28), at: .create, times: .max)
            let refused = try await put("b", 1_048_576)
            #expect(refused.status.code == 507)
            #expect(refused.problemCode == "disk-full")
            #expect(refused.headers[.retryAfter] != nil)
            let read = try await test.send(client, .get, "/v1/stores/s/keys/a", as: TestServer.reader)
            #expect(read.status == .ok)
            let missing = try await test.send(client, .get, "/v1/stores/s/keys/b", as: TestServer.reader)
            #expect(missing.status == .notFound)
            test.storage.heal()
            #expect(try await put("b", 1_048_576).status == .ok)
        }
    }

    @Test("a failed write is not acknowledged, and writes are accepted again when the disk works", .logOnly)
    func failedWrite() async throws {
        let test = try TestServer(recoveryDelay: .milliseconds(1))
        try await test.served { client, port in
            func put(_ key: String) async throws -> TestResponse {
                try await test.send(
                    client, .post, "/v1/stores/s/sync", body: test.syncBody(Samples.request([Samples.change(key)])))
            }
            #expect(try await put("a").status == .ok)
            let stream = try await RawConnection.open(
                port: port, sending: test.request("GET /v1/stores/s/changes?since=1"))
            try await stream.wait(for: "opened")
            test.storage.aim(.fail(5), at: .write, times: .max)
            test.storage.aim(.fail(5), at: .create, times: .max)
            for _ in 0..<2 {
                let answer = try await put("b")
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.problemCode == "disk-failed")
            }
            test.storage.heal()
            // What was in memory is durable after the recovery.
            try await stream.wait(for: #""b""#)
            await stream.close()
            let ready = try await client.execute(uri: "/readyz", method: .get)
            #expect(ready.status == .ok)
            #expect(try await put("c").status == .ok)
        }
    }

    @Test("a failed sync fails this and later writes and readiness, and reads still work", .logOnly)
    func failedSync() async throws {
        try await test.served { client, _ in
            func sync(_ changes: [StoreRecord]) async throws -> TestResponse {
                try await test.send(client, .post, "/v1/stores/s/sync", body: test.syncBody(Samples.request(changes)))
            }
            #expect(try await sync([Samples.change("a")]).status == .ok)
            test.storage.aim(.losePages, at: .sync)
            #expect(try await sync([Samples.change("b")]).problemCode == "disk-failed")
            #expect(try await sync([Samples.change("c")]).status == .serviceUnavailable)
            let pull = try await sync([])
            #expect(pull.status == .ok)
            #expect(try pull.decoded(SyncResponse.self).changes.map(\.record.key) == ["a"])
            let ready = try await client.execute(uri: "/readyz", method: .get)
            #expect(ready.status == .serviceUnavailable)
            let alive = try await client.execute(uri: "/healthz", method: .get)
            #expect(alive.status == .ok)
        }
    }

    @Test("metrics count requests and contain no names")
    func metrics() async throws {
        try await test.served { client, _ in
            _ = try await test.send(
                client, .post, "/v1/stores/secret-store/sync",
                body: test.syncBody(Samples.request([Samples.change("secret-key")])))
            let text = try await client.execute(uri: "/metrics", method: .get).text
            #expect(text.contains("\nkvsd_records_stored_total 1\n"))
            #expect(TestEngine.current != .log || text.contains("\nkvsd_stores 1\n"))
            #expect(text.contains("kvsd_answers_total{class=\"2xx\"} 1\n"))
            for secret in ["secret", "laptop", "default", test.token(TestServer.laptop)] {
                #expect(!text.contains(secret))
            }
        }
    }
}
