import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Creating and removing stores", .engines, .timeLimit(.minutes(5)))
struct StoreRemovalTests {
    private let test = try! TestServer()

    private func sync(
        _ client: TestClient, _ store: String = "s", _ request: SyncRequest = Samples.request(),
        as device: String = TestServer.laptop
    ) async throws -> TestResponse {
        try await test.send(client, .post, "/v1/stores/\(store)/sync", as: device, body: test.syncBody(request))
    }

    private func remove(
        _ client: TestClient, _ store: String = "s", as device: String = TestServer.laptop
    ) async throws -> TestResponse {
        try await test.send(client, .delete, "/v1/stores/\(store)", as: device)
    }

    @Test("a device that may only read creates no store, however often it syncs")
    func reader() async throws {
        try await test.served { client, _ in
            for number in 0..<20 {
                let refused = try await sync(client, "s\(number)", as: TestServer.reader)
                #expect(refused.status == .notFound && refused.problemCode == "unknown-store")
            }
            #expect(try await test.server.engine.storeList(ofAccount: "default").isEmpty)
            #expect(try await sync(client, "s1").status == .ok)
            #expect(try await sync(client, "s1", as: TestServer.reader).status == .ok)
            #expect(try await test.server.engine.storeList(ofAccount: "default").map(\.store) == ["s1"])
        }
    }

    @Test("a store is removed with the scope to write, once")
    func remove() async throws {
        try await test.served { client, _ in
            let change = Samples.request([Samples.change("k")])
            #expect(try await sync(client, "s", change).status == .ok)
            let refused = try await remove(client, as: TestServer.reader)
            #expect(refused.status == .forbidden && refused.problemCode == "read-only")
            for device in [TestServer.limited, TestServer.stranger] {
                #expect(try await remove(client, as: device).problemCode == "unknown-store")
            }
            #expect(try await remove(client).status == .ok)
            #expect(try await remove(client).problemCode == "unknown-store")
            let keys = try await test.send(client, .get, "/v1/stores/s/keys")
            #expect(keys.problemCode == "unknown-store")
            #expect(try await test.server.engine.storeList(ofAccount: "default").isEmpty)
            let text = try await client.execute(uri: "/metrics", method: .get).text
            #expect(TestEngine.current == .database || text.contains(/kvsd_stores 0\n/), "\(text)")
        }
    }

    @Test("a reader of a removed store finds it empty, and its sync creates nothing")
    func empty() async throws {
        try await test.served { client, _ in
            let change = Samples.request([Samples.change("k")])
            let before = try await sync(client, "s", change).decoded(SyncResponse.self)
            _ = try await remove(client)
            for device in [TestServer.reader, TestServer.laptop] {
                let answer = try await sync(
                    client, "s", Samples.request(since: before.cursor), as: device
                ).decoded(SyncResponse.self)
                #expect(answer.isInitial && answer.changes.isEmpty)
                #expect(answer.horizon > before.cursor.sequence)
            }
            #expect(try await test.server.engine.storeList(ofAccount: "default").isEmpty)
        }
    }

    @Test("live streams of a removed store end, as do those that wait for it to be created again")
    func streams() async throws {
        try await test.served { client, port in
            let change = Samples.request([Samples.change("k")])
            let before = try await sync(client, "s", change).decoded(SyncResponse.self)
            func stream(since cursor: SyncCursor) async throws -> EventReader {
                return try await test.openStream(
                    port, "?since=\(cursor.sequence)&epoch=\(cursor.epoch)", as: TestServer.reader)
            }
            func end(of reader: consuming EventReader) async {
                #expect(await reader.next()?.name == "reset")
                #expect(await reader.next() == nil)
            }
            let first = try await stream(since: before.cursor)
            _ = try await remove(client)
            await end(of: first)
            let empty = try await sync(client, as: TestServer.reader).decoded(SyncResponse.self)
            let second = try await stream(since: empty.cursor)
            _ = try await sync(client, "s", Samples.request([Samples.change("k", Samples.stamp(1))]))
            await end(of: second)
        }
    }

    @Test("a removed store makes room for another")
    func room() async throws {
        try await test.served { client, _ in
            // Makes the log's first segment.
            _ = try await sync(client, "s0")
            for number in 1..<1_024 {
                _ = try await test.server.engine.sync(
                    Samples.request(), store: StoreID(account: "default", name: "s\(number)"))
            }
            #expect(try await sync(client, "more").problemCode == "too-many-stores")
            #expect(try await remove(client, "s7").status == .ok)
            #expect(try await sync(client, "more").status == .ok)
            #expect(try await sync(client, "s7").status == .ok)
            let change = Samples.request([Samples.change("k")])
            #expect(try await sync(client, "s7", change).problemCode == "too-many-stores")
        }
    }

    @Test("after a failed sync, a removal that is not durable makes no replica drop anything", .logOnly)
    func failedSync() async throws {
        try await test.served { client, _ in
            let change = Samples.request([Samples.change("k")])
            let before = try await sync(client, "s", change).decoded(SyncResponse.self)
            test.storage.aim(.fail(5), at: .sync)
            #expect(try await remove(client).problemCode == "disk-failed")
            let answer = try await sync(client, "s", Samples.request(since: before.cursor))
            #expect(answer.problemCode == "disk-failed")
        }
    }
}
