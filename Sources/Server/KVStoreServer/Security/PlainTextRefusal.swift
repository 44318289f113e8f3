import KVStoreWire
import NIOCore

/// Answers a client that speaks HTTP where TLS is expected, instead of breaking the connection without a word. Removes
/// itself after the first byte of any other.
final class PlainTextRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connections: ConnectionTable
    private var hasRefused = false

    init(_ connections: ConnectionTable) { self.connections = connections }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if hasRefused { return }
        guard let first = unwrapInboundIn(data).readableBytesView.first,
            // A method; a TLS record of a handshake begins with 22.
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
        else {
            context.fireChannelRead(data)
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        hasRefused = true
        var answer = Answer(Problem.tlsRequired)
        answer.isLast = true
        var buffer = context.channel.allocator.buffer(capacity: 512)
        answer.write(to: &buffer, date: connections.date)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        // The rest of the request is still read: unread, it would make the system discard the answer.
        context.close(mode: .output, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if hasRefused, case ChannelEvent.inputClosed = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
