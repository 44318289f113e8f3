import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import KVStoreServer
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

/// The library as a program uses it that starts a server in its own process.
@Suite("StoreServer", .timeLimit(.minutes(5)))
struct StoreServerTests {
    private static func sync(
        _ server: StoreServer, _ token: String, _ changes: [StoreRecord] = []
    ) async throws -> SyncResponse {
        let port = try await server.port
        let client = TestClient(port: port)
        let response = try await client.execute(
            uri: "/v1/stores/s/sync", method: .post, headers: [.authorization: "Bearer \(token)"],
            body: ByteBuffer(bytes: WireJSON.encode(Samples.request(changes))))
        await client.close()
        return try WireJSON.decode(from: Data(response.body.readableBytesView))
    }

    @Test("a temporary server stores, answers on its port and stops")
    func temporary() async throws {
        let server = try StoreServer()
        let token = try server.addDevice("laptop")
        #expect(server.hasDevices)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let past = StoreStamp(milliseconds: 1, counter: 0, replica: Samples.replica)
            let stored = try await Self.sync(server, token, [Samples.change("a", past)])
            #expect(stored.cursor.sequence == 1 && stored.rejections.isEmpty)
            await server.stop()
            try await group.waitForAll()
        }
        await #expect(throws: ServerError.self) { try await server.run() }
    }

    @Test("a server serves what the previous one stored in its directory")
    func directory() async throws {
        let directory = try TemporaryDirectory()
        var token = ""
        for life in 0..<2 {
            let server = try StoreServer(ServerConfiguration(storage: .directory(directory.path + "/data")))
            if life == 0 { token = try server.addDevice("laptop") }
            #expect(throws: ServerError.self) {
                try StoreServer(ServerConfiguration(storage: .directory(directory.path + "/data")))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                let past = StoreStamp(milliseconds: 1, counter: 0, replica: Samples.replica)
                let changes = life == 0 ? [Samples.change("a", past)] : []
                let answer = try await Self.sync(server, token, changes)
                #expect(answer.cursor.sequence == 1)
                await server.stop()
                try await group.waitForAll()
            }
        }
    }

    @Test("a server that was stopped before it ran does not listen")
    func stoppedEarly() async throws {
        let server = try StoreServer()
        await server.stop()
        try await server.run()
        await #expect(throws: ServerError.self) { try await server.port }
    }

    @Test("cancelling the task that runs a server ends it, even with a live stream open")
    func cancelled() async throws {
        let server = try StoreServer()
        let token = try server.addDevice("laptop")
        let running = Task { try await server.run() }
        _ = try await Self.sync(server, token)
        var reader = try await EventReader(port: server.port, path: "/v1/stores/s/changes", token: token)
        #expect(await reader.next()?.name == "opened")
        running.cancel()
        _ = await running.result
        _ = await reader.connection.rest()
    }

    @Test("an address in use makes run() and port throw")
    func addressInUse() async throws {
        let first = try StoreServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            let address = ListenAddress(host: "127.0.0.1", port: try await first.port)
            let second = try StoreServer(ServerConfiguration(address: address))
            await #expect(throws: ServerError.self) { try await second.run() }
            await #expect(throws: ServerError.self) { try await second.port }
            await first.stop()
            try await group.waitForAll()
        }
    }
}
