package import NIOCore
import NIOPosix
package import NIOSSL
import Synchronization

/// A connection that sends and receives raw bytes.
package struct RawConnection: Sendable {
    package let channel: any Channel
    package let bytes: AsyncStream<ByteBuffer>

    /// - Parameters:
    ///   - reads: false for a peer that reads nothing.
    ///   - tls: nil for plain TCP.
    package static func open(port: Int, reads: Bool = true, tls: NIOSSLContext? = nil) async throws -> RawConnection {
        let (bytes, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelOption(.socketOption(.so_rcvbuf), value: 16_384)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(Collector(continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawConnection(channel: channel, bytes: bytes)
    }

    package static func open(port: Int, sending text: String) async throws -> RawConnection {
        let connection = try await open(port: port)
        try await connection.send(text)
        return connection
    }

    /// Everything that comes on a connection of its own until the peer closes.
    package static func answer(to text: String, port: Int) async throws -> String {
        await (try await open(port: port, sending: text)).rest()
    }

    package func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Reads until `text` has come; an error when the peer closes before.
    package func wait(for text: String) async throws {
        var received = ""
        for await buffer in bytes {
            received += String(buffer: buffer)
            if received.contains(text) { return }
        }
        throw Closed(received: received)
    }

    package struct Closed: Error {
        var received: String
    }

    /// Everything until the peer closes.
    package func rest() async -> String {
        var text = ""
        for await buffer in bytes { text += String(buffer: buffer) }
        return text
    }

    package func close() async { try? await channel.close() }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let continuation: AsyncStream<ByteBuffer>.Continuation

        init(_ continuation: AsyncStream<ByteBuffer>.Continuation) {
            self.continuation = continuation
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            continuation.finish()
            context.close(promise: nil)
        }
    }
}
