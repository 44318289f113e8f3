import Foundation
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Turns of devices", .engines)
struct DeviceTurnTests {
    @Test("a device whose requests have taken its turn waits for the next tick, and others do not")
    func turn() {
        var turns = DeviceTurns()
        let part = DeviceTurns.nanosecondLimit / 4
        for _ in 0..<3 { turns.charge("a", part, in: 7) }
        #expect(!turns.isOver("a", in: 7))
        turns.charge("a", part, in: 7)
        turns.charge("b", part, in: 7)
        #expect(turns.isOver("a", in: 7))
        #expect(!turns.isOver("b", in: 7) && !turns.isOver("c", in: 7) && !turns.isOver(nil, in: 7))
        #expect(!turns.isOver("a", in: 8))
        turns.charge("b", part, in: 8)
        #expect(!turns.isOver("a", in: 8) && !turns.isOver("b", in: 8))
    }

    @Test("pipelined requests that exceed the turn of their device are all answered")
    func pipelined() async throws {
        let test = try TestServer(stored: (0..<1_000).map { Samples.change("k\($0)") })
        try await test.served { _, port in
            let request = test.request("GET /v1/stores/s/keys", as: TestServer.reader)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let connection = try await RawConnection.open(port: port)
                        try await connection.send(
                            String(repeating: request, count: 20)
                                + test.request("GET /v1/me", "Connection: close\r\n", as: TestServer.reader))
                        let answers = await connection.rest()
                        return answers.components(separatedBy: "HTTP/1.1 200 ").count - 1
                    }
                }
                for try await count in group { #expect(count == 21) }
            }
        }
    }
}
