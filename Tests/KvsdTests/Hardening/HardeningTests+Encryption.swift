import Foundation
import NIOCore
import NIOSSL
import ServerTestSupport
import Testing

/// Peers that speak something else than TLS 1.3 to a port with TLS.
extension HardeningTests {
    private static var limits: AttackedDaemon.Limits {
        var limits = AttackedDaemon.Limits(connections: 700)
        limits.others = ["first-request-milliseconds": 2_000]
        return limits
    }

    @Test("plain HTTP and older versions of TLS are refused")
    func downgrade() async throws {
        try await AttackedDaemon.withstands(Self.limits, isEncrypted: true) { attacked in
            let port = attacked.process.port
            let plain = try await RawConnection.open(port: port, sending: attacked.head("GET /v1/me") + "\r\n")
            let refusal = Answers(await plain.rest())
            #expect(refusal.statuses == [400] && refusal.codes == ["tls-required"])
            for version in [TLSVersion.tlsv12, .tlsv11] {
                let old = try await RawConnection.open(port: port, tls: AttackedDaemon.tls(maximum: version))
                try? await old.send(attacked.head("GET /v1/me") + "\r\n")
                #expect(await old.rest().isEmpty)
            }
            let current = try await attacked.answers(to: attacked.head("GET /v1/me") + "\r\n")
            #expect(current.statuses == [200])
        }
    }

    @Test("handshakes that are not finished, or turn to garbage, end with their connections")
    func handshakes() async throws {
        try await AttackedDaemon.withstands(Self.limits, isEncrypted: true) { attacked in
            /// A handshake record, a ClientHello of 508 bytes, its version.
            let hello: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]
            let garbage = (0..<4_096).map { _ in UInt8.random(in: .min ... .max) }
            for bytes in [hello, hello + garbage, [22] + garbage] {
                let count = bytes == hello ? 500 : 50
                var connections: [RawConnection] = []
                for _ in 0..<count {
                    let connection = try await RawConnection.open(port: attacked.process.port)
                    try? await connection.channel.writeAndFlush(ByteBuffer(bytes: bytes))
                    connections.append(connection)
                }
                for connection in connections {
                    // At most an alert.
                    #expect(await connection.rest().utf8.count < 32)
                }
            }
        }
    }
}
