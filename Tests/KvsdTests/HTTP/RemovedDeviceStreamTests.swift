import Foundation
import KVStore
import NIOCore
import Testing

@testable import kvsd

@Suite("The live stream of a removed device", .timeLimit(.minutes(2)))
struct RemovedDeviceStreamTests {
    @Test("a reader that is in the middle of a large store is told no further page")
    func pages() async throws {
        let test = try TestDaemon()
        try await test.served { _, port in
            // More than the buffers of the system hold, so that it is told page by page.
            let count = 16
            let value = String(repeating: "v", count: 1_000_000)
            for number in 0..<count {
                let change = Samples.change("k\(number)", Samples.stamp(), value)
                _ = try await test.daemon.keeper.sync(
                    Samples.request([change]), store: StoreID(account: "default", name: "s"))
            }
            let connection = try await RawConnection.open(port: port, reads: false)
            try await connection.send(
                """
                GET /v1/stores/s/changes HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(test.token(TestDaemon.laptop))\r
                \r

                """)
            while !test.daemon.devices.presence(of: "00000000000000a1").isConnected {
                await Task.yield()
            }
            try test.remove(TestDaemon.laptop)
            try await connection.channel.setOption(.autoRead, value: true).get()
            let told = await connection.rest().split(separator: "event: change\n").count - 1
            #expect(told < count)
        }
    }

    @Test("an idle stream ends at once, without news, heartbeat or request")
    func idle() async throws {
        var limits = TestDaemon.patient
        limits.heartbeatMilliseconds = 3_600_000
        let test = try TestDaemon(limits: limits)
        try await test.served { _, port in
            _ = try await test.daemon.keeper.sync(
                Samples.request([Samples.change("k")]),
                store: StoreID(account: "default", name: "s"))
            var readers: [EventReader] = []
            for device in [TestDaemon.laptop, TestDaemon.reader] {
                var reader = try await EventReader(
                    port: port, path: "/v1/stores/s/changes?since=1", token: test.token(device))
                #expect(await reader.next()?.name == "opened")
                readers.append(reader)
            }
            try test.remove(TestDaemon.laptop)
            #expect(await readers[0].next() == nil)
            #expect(test.daemon.devices.presence(of: "00000000000000a2").isConnected)
            await readers[1].connection.close()
        }
    }
}
