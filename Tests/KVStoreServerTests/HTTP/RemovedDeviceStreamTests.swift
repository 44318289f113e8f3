import Foundation
import KVStoreCore
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Live stream of a removed device", .engines, .timeLimit(.minutes(5)))
struct RemovedDeviceStreamTests {
    private let store = StoreID(account: "default", name: "s")

    @Test("a removed device receives nothing more of a large store, however slowly it reads")
    func pages() async throws {
        let test = try TestServer()
        let value = String(repeating: "v", count: 200_000)
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request(), store: store)
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(test.request("GET /v1/stores/s/changes"))
            // More than the buffers of the system hold.
            var last: UInt64 = 0
            while try await !isReaderSlow(test) {
                let change = Samples.change("k\(last % 4)", Samples.stamp(Int64(last)), value)
                last = try await test.server.engine.sync(Samples.request([change]), store: store).cursor.sequence
            }
            let change = Samples.change("last", Samples.stamp(Int64(last)), value)
            _ = try await test.server.engine.sync(Samples.request([change]), store: store)
            try await test.applied { try test.remove(TestServer.laptop) }
            try await connection.channel.setOption(.autoRead, value: true).get()
            let text = await connection.rest()
            #expect(text.contains("event: change") && !text.contains(#""key":"last""#))
        }
    }

    private func isReaderSlow(_ test: TestServer) async throws -> Bool {
        for table in test.server.tables {
            let isSlow = try await table.watchers.loop.submit {
                table.connections.values.contains { $0.wait?.kind == .reader }
            }.get()
            if isSlow { return true }
        }
        return false
    }

    @Test("an idle stream of a removed device ends without a change, heartbeat or request")
    func idle() async throws {
        let test = try TestServer { $0.heartbeatMilliseconds = 3_600_000 }
        try await test.served { _, port in
            _ = try await test.server.engine.sync(Samples.request([Samples.change("k")]), store: store)
            var readers: [EventReader] = []
            for device in [TestServer.laptop, TestServer.reader] {
                readers.append(try await test.openStream(port, "?since=1", as: device))
            }
            try await test.applied { try test.remove(TestServer.laptop) }
            #expect(await readers[0].next() == nil)
            #expect(test.server.devices.presence(of: "00000000000000a2").isConnected)
            await readers[1].connection.close()
        }
    }

    @Test("a request whose device is removed before the body has arrived changes nothing")
    func removedDuringRequest() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port)
            try await connection.send(
                test.request(
                    "PUT /v1/stores/s/keys/k",
                    "Content-Type: application/octet-stream\r\nContent-Length: 4\r\n"
                        + "Expect: 100-continue\r\nConnection: close\r\n"))
            try await connection.wait(for: "100 Continue")
            try await test.applied { try test.remove(TestServer.laptop) }
            try await connection.send("body")
            #expect(await connection.rest().hasPrefix("HTTP/1.1 401 "))
            #expect(try await test.server.engine.storeList(ofAccount: "default").isEmpty)
        }
    }
}
