import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("TLS connections", .timeLimit(.minutes(5)))
struct TLSConnectionTests {
    /// Withholds all input from the handlers behind it once `isClosed`.
    private final class Gate: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var isClosed = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if !isClosed { context.fireChannelRead(data) }
        }
    }

    private final class Handshake: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let gate: Gate

        init(_ gate: Gate) { self.gate = gate }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case TLSUserEvent.handshakeCompleted = event { gate.isClosed = true }
        }
    }

    @Test("of an address that begins too many handshakes the oldest make way, and a device gets in")
    func halfOpen() async throws {
        var limits = TestServer.patient
        limits.unauthenticatedPerAddress = 4
        // Each loop has its share of the places, and which of them gets a connection is not known.
        let test = try TestServer(
            limits: limits, encryption: .ownCertificate, loops: [MultiThreadedEventLoopGroup.singleton.next()])
        try await test.served { _, port in
            var strangers: [RawConnection] = []
            for _ in 0..<16 {
                let stranger = try await RawConnection.open(port: port)
                // The beginning of a TLS record.
                try await stranger.send("\u{16}\u{3}\u{1}")
                strangers.append(stranger)
            }
            for stranger in strangers.prefix(8) { #expect(await stranger.rest() == "") }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            let client = TestClient(port: port, tls: try NIOSSLContext(configuration: tls))
            let answer = try await test.send(client, .get, "/v1/me")
            #expect(answer.status == .ok)
            #expect(test.server.metrics.counters.connections <= 5)
            await client.close()
        }
    }

    @Test("a connection that a limit closes does not wait for the peer to close too")
    func closing() async throws {
        var limits = ServerLimits()
        limits.firstByteMilliseconds = 500
        let test = try TestServer(limits: limits, encryption: .ownCertificate)
        try await test.served { _, port in
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            let context = try NIOSSLContext(configuration: tls)
            let start = ContinuousClock.now
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let gate = Gate()
                        try channel.pipeline.syncOperations.addHandlers([
                            gate, try NIOSSLClientHandler(context: context, serverHostname: nil),
                            Handshake(gate),
                        ])
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            try await channel.closeFuture.get()
            // Waiting for the peer takes five seconds more.
            #expect(ContinuousClock.now - start < .seconds(4))
        }
    }
}
