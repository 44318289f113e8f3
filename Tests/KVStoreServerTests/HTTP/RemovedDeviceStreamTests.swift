import Foundation
import HTTPTypes
import Hummingbird
import KVStoreCore
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Live stream of a removed device", .timeLimit(.minutes(5)))
struct RemovedDeviceStreamTests {
    private let store = StoreID(account: "default", name: "s")

    /// Counts the changes that a stream sends.
    private struct Reader: ResponseBodyWriter {
        var take: (_ changeCount: Int) throws -> Void

        mutating func write(_ buffer: ByteBuffer) async throws {
            let parts = String(buffer: buffer).components(separatedBy: "event: change\n")
            try take(parts.count - 1)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test("a removed device receives no further page of a large store")
    func pages() async throws {
        let test = try TestServer()
        let page = WireLimits.page.recordCount
        let total = page + 100
        for keys in [0..<page, page..<total] {
            let changes = keys.map { Samples.change("k\($0)") }
            _ = try await test.server.engine.sync(Samples.request(changes), store: store)
        }
        try await test.served { _, _ in
            let devices = test.server.devices.table.devices
            let laptop = try #require(devices.first { $0.name == TestServer.laptop })
            let end = try #require(try await test.server.engine.end(of: store))
            let stream = EventStream(
                server: test.server, device: laptop, store: store,
                start: Cursor(epoch: end.epoch, sequence: 0), slot: StreamSlot {})
            let watcher = test.server.engine.watchers.add(store)
            var sent = 0
            var writer: any ResponseBodyWriter = Reader { count in
                if sent == 0, count > 0 { try test.remove(TestServer.laptop) }
                sent += count
                // A stream that continued would wait for changes.
                if sent == total { watcher.continuation.finish() }
            }
            try await stream.send(to: watcher, &writer)
            #expect(sent == page)
        }
    }

    @Test("an idle stream of a removed device ends without a change, heartbeat or request")
    func idle() async throws {
        var limits = TestServer.patient
        limits.heartbeatMilliseconds = 3_600_000
        let test = try TestServer(limits: limits)
        try await test.served { _, port in
            _ = try await test.server.engine.sync(
                Samples.request([Samples.change("k")]), store: store)
            var readers: [EventReader] = []
            for device in [TestServer.laptop, TestServer.reader] {
                var reader = try await EventReader(
                    port: port, path: "/v1/stores/s/changes?since=1", token: test.token(device))
                #expect(await reader.next()?.name == "opened")
                readers.append(reader)
            }
            try test.remove(TestServer.laptop)
            #expect(await readers[0].next() == nil)
            #expect(test.server.devices.presence(of: "00000000000000a2").isConnected)
            await readers[1].connection.close()
        }
    }
}
