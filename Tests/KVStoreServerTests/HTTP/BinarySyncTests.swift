import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Binary sync", .engines, .timeLimit(.minutes(5)))
struct BinarySyncTests {
    private let test = try! TestServer()

    private func post(
        _ body: [UInt8], _ client: TestClient, type: String? = MediaType.sync, accept: String? = MediaType.sync
    ) async throws -> TestResponse {
        var headers = test.headers(TestServer.laptop)
        headers[.contentType] = type
        headers[.accept] = accept
        return try await client.execute(
            uri: "/v1/stores/s/sync", method: .post, headers: headers, body: ByteBuffer(bytes: body))
    }

    private func decode(_ response: TestResponse) throws -> SyncResponse {
        #expect(response.status == .ok, "\(response.text)")
        guard response.headers[.contentType] == MediaType.sync else {
            #expect(response.headers[.contentType] == MediaType.json)
            return try response.decoded(SyncResponse.self)
        }
        return try response.body.withUnsafeReadableBytes { try WireBinary.decode(from: $0) }
    }

    @Test("clients with binary and with JSON see the same")
    func bothForms() async throws {
        let changes = [
            Samples.change("json"), Samples.change("removed", Samples.stamp(), nil),
            Samples.change("future", Samples.stamp(10_000_000)), Samples.change(""),
        ]
        try await test.served { client, _ in
            let pushed = try decode(try await post(WireBinary.encode(Samples.request(changes)), client))
            #expect(pushed.isInitial && pushed.cursor.sequence == 2 && pushed.lineage.count == 1)
            #expect(
                pushed.rejections.map(\.reason) == [
                    .clock(limit: Samples.now + 60_000, present: nil), .key(limit: 128),
                ])
            let later = Samples.request([Samples.change("binary")], since: pushed.cursor)
            let other = try decode(try await post(WireJSON.bytes(of: later), client, type: MediaType.json, accept: nil))
            #expect(other.changes.isEmpty && other.cursor.sequence == 3)
            let pull = Samples.request()
            var answers: [SyncResponse] = []
            for accept in [MediaType.sync, "text/html, application/vnd.ubiquity.sync", nil, "*/*"] {
                answers.append(try decode(try await post(WireBinary.encode(pull), client, accept: accept)))
                answers.append(try decode(try await post(WireJSON.bytes(of: pull), client, type: nil, accept: accept)))
            }
            #expect(answers[0].changes.map(\.record.key) == ["json", "removed", "binary"])
            #expect(answers.allSatisfy { $0 == answers[0] })
        }
    }

    @Test("the answer has the form that the request accepts, whatever its own")
    func negotiation() async throws {
        try await test.served { client, _ in
            let request = Samples.request()
            for (accept, type) in [
                (nil, MediaType.json), ("*/*", MediaType.json), (MediaType.sync, MediaType.sync),
                ("\(MediaType.sync), \(MediaType.json)", MediaType.sync),
            ] {
                for sent in [MediaType.sync, "Application/vnd.ubiquity.Sync; a=b"] {
                    let response = try await post(WireBinary.encode(request), client, type: sent, accept: accept)
                    #expect(response.headers[.contentType] == type)
                }
                for sent in [nil, MediaType.json, "application/json; charset=utf-8"] {
                    let response = try await post(WireJSON.bytes(of: request), client, type: sent, accept: accept)
                    #expect(response.headers[.contentType] == type)
                }
            }
        }
    }

    @Test(
        "another media type is answered with 415, naming the supported ones",
        arguments: [
            "", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded",
        ])
    func mediaTypes(type: String) async throws {
        try await test.served { client, _ in
            let response = try await post(
                WireJSON.bytes(of: Samples.request([Samples.change("a")])), client, type: type)
            #expect(response.status == .unsupportedMediaType)
            #expect(response.problemCode == "media-type")
            #expect(response.text.contains("application/vnd.ubiquity.sync or application/json"))
            let store = StoreID(account: "default", name: "s")
            #expect(try await test.server.engine.values(in: store) == nil)
        }
    }

    @Test("a malformed message is answered with a JSON problem that names the field")
    func malformed() async throws {
        let whole = WireBinary.encode(Samples.request([Samples.change("a")]))
        let cases: [([UInt8], String)] = [
            ([], "version is incomplete"), ([9] + whole.dropFirst(), "version 9 is not supported"),
            (Array("{}".utf8), "version 123 is not supported"),
            (whole.dropLast(), "changes[0].value is incomplete"), (whole + [0], "1 bytes follow"),
            ([1, 0] + [UInt8](repeating: 255, count: 2_000_000), "changes is incomplete"),
        ]
        try await test.served { client, _ in
            for (body, detail) in cases {
                let response = try await post(body, client)
                #expect(response.status == .badRequest && response.problemCode == "malformed")
                #expect(response.headers[.contentType] == MediaType.problem)
                #expect(response.text.contains(detail), "\(response.text)")
            }
        }
    }

    @Test("1,001 changes, and a push without permission, are refused as in JSON")
    func limits() async throws {
        try await test.served { client, _ in
            let changes = (0...1_000).map { Samples.change("key \($0)") }
            let response = try await post(WireBinary.encode(Samples.request(changes)), client)
            #expect(response.status == .contentTooLarge)
            #expect(response.problemCode == "too-many-changes")
            let refused = try await test.send(
                client, .post, "/v1/stores/s/sync", as: TestServer.reader, [.contentType: MediaType.sync],
                body: ByteBuffer(bytes: WireBinary.encode(Samples.request([Samples.change("a")]))))
            #expect(refused.status == .forbidden && refused.problemCode == "read-only")
        }
    }

    @Test("a message of nearly 2 MiB is accepted")
    func largeMessage() async throws {
        let value = String(repeating: "x", count: 900_000)
        try await test.served { client, _ in
            let changes = ["a", "b"].map { Samples.change($0, Samples.stamp(), value) }
            let answer = try decode(try await post(WireBinary.encode(Samples.request(changes)), client))
            #expect(answer.cursor.sequence == 2 && answer.rejections.isEmpty)
        }
    }
}
