import Foundation
import KVStore
import KVStoreWire
import Testing

@testable import KVStoreHTTP

@Suite("Sync in binary over HTTP", .timeLimit(.minutes(5)))
struct BinarySyncTests {
    private static let request = SyncRequest(
        replica: ReplicaID(rawValue: 7), since: nil,
        changes: [
            StoreRecord(
                key: "k", stamp: StoreStamp(milliseconds: 2, counter: 0, replica: ReplicaID(rawValue: 7)),
                content: .value(Data([0, 255])))
        ])
    private static let response = SyncResponse(
        cursor: SyncCursor(epoch: EpochID(rawValue: 0xe1), sequence: 1), serverTime: 5,
        isInitial: true, lineage: [SyncCursor(epoch: EpochID(rawValue: 0xe1), sequence: 1)])

    private func transport(_ server: ScriptedServer) throws -> HTTPSyncTransport {
        try HTTPSyncTransport(address: DaemonAddress(server.address), token: #require(AccessToken("t0ken")))
    }

    private static func answer(type: String, _ body: [UInt8]) -> [ScriptedServer.Step] {
        [
            .text("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"),
            .send(Data(body)),
        ]
    }

    @Test("request and answer are binary, and JSON is accepted")
    func binary() async throws {
        let server = try await ScriptedServer { _ in
            Self.answer(type: "Application/VND.Ubiquity.Sync ; v=1", WireBinary.encode(Self.response))
        }
        let answer = try await transport(server).sync(Self.request, store: "s")
        #expect(answer == Self.response)
        let received = try #require(server.received.first)
        #expect(received.header("Content-Type") == "application/vnd.ubiquity.sync")
        #expect(received.header("Accept") == "application/vnd.ubiquity.sync, application/json")
        #expect(received.body == Data(WireBinary.encode(Self.request)))
        await server.stop()
    }

    @Test(
        "a daemon that knows only JSON is sent JSON from then on",
        arguments: [("415 Unsupported Media Type", "media-type"), ("400 Bad Request", "malformed")])
    func olderDaemon(status: String, code: String) async throws {
        let server = try await ScriptedServer { request in
            guard (try? WireJSON.decode(SyncRequest.self, from: request.body)) == Self.request else {
                return ScriptedServer.answer(status, type: MediaType.problem, body: #"{"code":"\#(code)"}"#)
            }
            return Self.answer(type: MediaType.json, WireJSON.bytes(of: Self.response))
        }
        let transport = try transport(server)
        for _ in 0..<2 {
            #expect(try await transport.sync(Self.request, store: "s") == Self.response)
        }
        #expect(
            server.received.map { $0.header("Content-Type") } == [
                MediaType.sync, MediaType.json, MediaType.json,
            ])
        #expect(server.received.map { $0.header("Accept") }.last == MediaType.json)
        await server.stop()
    }

    @Test("another refusal is not repeated in JSON")
    func refused() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer("400 Bad Request", type: MediaType.problem, body: #"{"code":"bad-store-name"}"#)
        }
        let transport = try transport(server)
        for _ in 0..<2 {
            await #expect(throws: SyncTransportError.self) {
                try await transport.sync(Self.request, store: "s")
            }
        }
        #expect(server.received.map { $0.header("Content-Type") } == [MediaType.sync, MediaType.sync])
        await server.stop()
    }

    @Test("a binary answer that is cut off is malformed")
    func malformed() async throws {
        let server = try await ScriptedServer { _ in
            Self.answer(type: MediaType.sync, WireBinary.encode(Self.response).dropLast())
        }
        await #expect(
            throws: SyncTransportError.malformed("\(server.address): rejected is incomplete")
        ) { try await transport(server).sync(Self.request, store: "s") }
        await server.stop()
    }
}
