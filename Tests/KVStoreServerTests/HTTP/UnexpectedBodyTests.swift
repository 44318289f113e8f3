import Foundation
import HTTPTypes
import KVStoreCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Unexpected bodies", .engines, .timeLimit(.minutes(5)))
struct UnexpectedBodyTests {
    static let framings = [
        "Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "5\r\nhello\r\n", count: 64),
    ]

    @Test("a GET or DELETE with a body is refused and the connection closed", arguments: framings)
    func refused(framing: String) async throws {
        let test = try TestServer()
        let routes = TestServer.routes.filter { ["GET", "DELETE"].contains($0.method) }
        try #require(routes.count == 12)
        try await test.served { _, port in
            _ = try await test.server.engine.sync(
                Samples.request([Samples.change("k")]), store: StoreID(account: "default", name: "s"))
            for route in routes {
                let connection = try await RawConnection.open(port: port)
                try await connection.send(
                    """
                    \(route.method) \(route.path) HTTP/1.1\r
                    Host: localhost\r
                    Authorization: Bearer \(test.token(TestServer.laptop))\r
                    \(framing)
                    """)
                let answer = await connection.rest()
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(route.path): \(answer)")
                #expect(answer.contains("unexpected-body"), "\(route.path)")
                #expect(answer.lowercased().contains("connection: close"), "\(route.path)")
            }
            #expect(!test.server.devices.presence(of: "00000000000000a1").isConnected)
            #expect(test.server.engine.watcherCount == 0)
            #expect(try await test.server.engine.values(in: StoreID(account: "default", name: "s"))?.count == 1)
        }
    }

    @Test("Content-Length: 0 is not a body")
    func empty() async throws {
        let test = try TestServer()
        try await test.served { _, port in
            let connection = try await RawConnection.open(
                port: port, sending: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            try await connection.wait(for: "HTTP/1.1 200 ")
            await connection.close()
        }
    }
}
