import Foundation
import KVStore
import Testing

@testable import KVStoreHTTP

@Suite("Queries to a daemon", .timeLimit(.minutes(5)))
struct DaemonClientTests {
    private func client(_ server: ScriptedServer) throws -> DaemonClient {
        try DaemonClient(address: DaemonAddress(server.address), token: #require(AccessToken("t0ken")))
    }

    @Test("me returns the account and device of the token")
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

    @Test("devices are listed with their last request and live stream")
    func devices() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer(
                "200 OK",
                body: """
                    {"devices":[{"deviceID":"d1","device":"desk","scopes":["read"],"created":1,
                    "lastSeen":2,"connected":true},{"deviceID":"d2","device":"phone","scopes":[],
                    "created":3,"connected":false}]}
                    """)
        }
        let devices = try await client(server).devices()
        #expect(devices.map(\.deviceID) == ["d1", "d2"])
        #expect(devices.map(\.lastSeen) == [2, nil])
        #expect(devices.map(\.connected) == [true, false])
        #expect(server.received.first?.line == "GET /v1/devices HTTP/1.1")
        await server.stop()
    }

    @Test("an incomplete answer is malformed and names the missing field")
    func malformed() async throws {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer("200 OK", body: #"{"account":"a"}"#)
        }
        let client = try client(server)
        await #expect(
            throws: SyncTransportError.malformed("\(server.address): the document lacks device")
        ) { try await client.me() }
        await server.stop()
    }
}
