import Foundation
import HTTPTypes
import KVStoreCore
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Live stream", .engines, .timeLimit(.minutes(5)))
struct EventStreamTests {
    private let store = StoreID(account: "default", name: "s")

    private func sync(_ test: TestServer, _ changes: [StoreRecord]) async throws -> SyncResponse {
        try await test.server.engine.sync(Samples.request(changes), store: store)
    }

    @Test("a stream sends the present records, then each change as it is stored")
    func live() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let epoch = try await sync(test, [Samples.change("a")]).cursor.epoch
            var reader = try await test.openStream(port, "?since=0&epoch=\(epoch)", as: TestServer.reader)
            let first = await reader.next()
            #expect(first?.change?.record == Samples.change("a"))
            #expect(first?.id == "1")
            _ = try await sync(test, [Samples.change("b", Samples.stamp(), nil)])
            let second = await reader.next()
            #expect(second?.change?.record.content == .tombstone)
            #expect(second?.change?.sequence == 2)
            #expect(test.server.devices.presence(of: "00000000000000a2").isConnected)
            await reader.connection.close()
        }
    }

    @Test("Last-Event-ID takes precedence over since")
    func resume() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            _ = try await sync(test, (0..<5).map { Samples.change("k\($0)") })
            var reader = try await EventReader(
                port: port, path: "/v1/stores/s/changes?since=0",
                token: test.token(TestServer.laptop), more: "Last-Event-ID: 3\r\n")
            #expect(await reader.next()?.name == "opened")
            #expect(await reader.next()?.id == "4")
            #expect(await reader.next()?.id == "5")
            await reader.connection.close()
        }
    }

    @Test(
        "a cursor of another epoch or beyond the end resets the stream and ends it",
        arguments: ["since=0&epoch=0000000000000000", "since=99"])
    func reset(query: String) async throws {
        let test = try TestServer()
        try await test.served { _, port in
            _ = try await sync(test, [Samples.change("a")])
            var reader = try await EventReader(
                port: port, path: "/v1/stores/s/changes?\(query)", token: test.token(TestServer.laptop))
            #expect(await reader.next()?.name == "reset")
            #expect(await reader.next() == nil)
            await reader.connection.close()
        }
    }

    @Test("an epoch that begins while the stream is open resets it", .logOnly)
    func renewed() async throws {
        let test = try TestServer(stored: [Samples.change("a")])
        try await test.served { _, port in
            let epoch = try await sync(test, []).cursor.epoch
            var reader = try await test.openStream(port, "?since=1&epoch=\(epoch)")
            // The first change since this daemon started.
            let answer = try await test.server.engine.sync(
                Samples.request([Samples.change("b")], since: SyncCursor(epoch: epoch, sequence: 1)), store: store)
            #expect(answer.cursor.epoch != epoch && !answer.isInitial)
            #expect(await reader.next()?.name == "reset")
            #expect(await reader.next() == nil)
            await reader.connection.close()
        }
    }

    @Test("an idle stream carries heartbeats")
    func heartbeat() async throws {
        let test = try TestServer { $0.heartbeatMilliseconds = 20 }
        try await test.served { _, port in
            _ = try await sync(test, [])
            var reader = try await test.openStream(port)
            #expect(await reader.next()?.comment == "hb")
            #expect(await reader.next()?.comment == "hb")
            await reader.connection.close()
        }
    }

    @Test("the stream of a removed device ends with the next heartbeat at the latest")
    func revoked() async throws {
        let test = try TestServer { $0.heartbeatMilliseconds = 20 }
        try await test.served { _, port in
            _ = try await sync(test, [])
            var reader = try await test.openStream(port)
            try test.remove(TestServer.laptop)
            while let event = await reader.next() { #expect(event.comment == "hb") }
            await reader.connection.close()
        }
    }

    @Test("a reader that reads nothing is disconnected and releases its stream")
    func slowReader() async throws {
        let test = try TestServer {
            $0.heartbeatMilliseconds = 20
            $0.slowReaderMilliseconds = 100
        }
        try await test.served { _, port in
            let value = String(repeating: "v", count: 1_000_000)
            for index in 0..<4 {
                _ = try await sync(test, [Samples.change("k\(index)", Samples.stamp(), value)])
            }
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(test.request("GET /v1/stores/s/changes"))
            // More than the buffers of the system hold is written again and again.
            var round: Int64 = 1
            while test.server.metrics.counters.slowReaders == 0 {
                for index in 0..<4 {
                    let change = Samples.change("k\(index)", Samples.stamp(round), value)
                    _ = try await sync(test, [change])
                }
                round = min(round + 1, 59_000)
            }
            try await wait { !test.server.devices.presence(of: "00000000000000a1").isConnected }
            #expect(test.server.engine.watcherCount == 0)
            await connection.close()
        }
    }

    @Test("a device can have 64 live streams")
    func streamCount() async throws {
        let test = try TestServer()
        try await test.served { client, port in
            _ = try await sync(test, [])
            var readers: [EventReader] = []
            for _ in 0..<64 {
                readers.append(try await test.openStream(port))
            }
            let refused = try await test.send(client, .get, "/v1/stores/s/changes")
            #expect(refused.status == .tooManyRequests)
            #expect(refused.problemCode == "too-many-streams")
            for reader in readers { await reader.connection.close() }
            try await wait { !test.server.devices.presence(of: "00000000000000a1").isConnected }
        }
    }

    @Test("streams end at once when the server stops, also those whose client stays connected")
    func stopping() async throws {
        var limits = TestServer.patient
        (limits.drainMilliseconds, limits.stopMilliseconds) = (3_600_000, 3_600_000)
        let test = try TestServer(limits: limits)
        let connection = try await test.served { _, port in
            _ = try await sync(test, [])
            let reader = try await test.openStream(port)
            let channel = reader.connection.channel
            try await channel.setOption(.allowRemoteHalfClosure, value: true).get()
            return reader.connection
        }
        await connection.close()
    }

    @Test("a stream whose client has not taken its events does not hold up the end of the server")
    func stoppingUnread() async throws {
        var limits = TestServer.patient
        (limits.slowReaderMilliseconds, limits.stopMilliseconds) = (3_600_000, 3_600_000)
        let test = try TestServer(limits: limits)
        let connection = try await test.served { _, port in
            let value = String(repeating: "v", count: 1_000_000)
            _ = try await sync(test, [Samples.change("k", Samples.stamp(), value)])
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(test.request("GET /v1/stores/s/changes"))
            try await wait { test.server.engine.watcherCount == 1 }
            // More than the buffers of the system hold.
            for round in 1...40 {
                _ = try await sync(test, [Samples.change("k", Samples.stamp(Int64(round)), value)])
            }
            return connection
        }
        await connection.close()
    }
}
