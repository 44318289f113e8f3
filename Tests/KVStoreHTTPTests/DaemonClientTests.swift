import Foundation
import KVStore
import Testing

@testable import KVStoreHTTP

@Suite("What a daemon says besides replication", .timeLimit(.minutes(5)))
struct DaemonClientTests {
    private func client(_ server: ScriptedServer) throws -> DaemonClient {
        try DaemonClient(
            address: DaemonAddress(server.address), token: #require(AccessToken("t0ken")))
    }

    @Test("me says whose the token is")
    func me() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer(
                "200 OK",
                body: """
                    {"account":"a","device":"desk","deviceID":"d1","epoch":"e","serverTime":5,
                    "scopes":["read","write"],"future":[]}
                    """)
        }
        let me = try await client(server).me()
        #expect(me.account == "a" && me.device == "desk" && me.deviceID == "d1")
        #expect(me.scopes == ["read", "write"] && me.epoch == "e" && me.serverTime == 5)
        #expect(server.received.first?.line == "GET /v1/me HTTP/1.1")
        await server.stop()
    }

    @Test("an answer of another shape is malformed, naming what is missing")
    func malformed() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer("200 OK", body: #"{"account":"a"}"#)
        }
        let client = try client(server)
        await #expect(
            throws: SyncTransportError.malformed("\(server.address): the answer has no device")
        ) { try await client.me() }
        await server.stop()
    }
}
