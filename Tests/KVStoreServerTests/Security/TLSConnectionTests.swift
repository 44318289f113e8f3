import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
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
