import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// How many connections there are.
final class ConnectionTable: Sendable {
    private let connections = Mutex(0)

    var count: Int { connections.withLock { $0 } }

    func open() -> Int {
        connections.withLock { count in
            count += 1
            return count
        }
    }

    func close() { connections.withLock { $0 -= 1 } }
}

/// Keeps a connection to the limits that hold before a request is one: a first request in time,
/// headers that fit, and not more connections than there may be.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let table: ConnectionTable
    private let limits: ServerLimits
    private var isCounted = false
    private var isSurplus = false
    private var isRefused = false
    private var firstRequest: Scheduled<Void>?

    init(table: ConnectionTable, limits: ServerLimits) {
        self.table = table
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let count = table.open()
        isCounted = true
        isSurplus = count > limits.connectionCount
        if count > limits.connectionCount + limits.surplusConnectionCount {
            context.channel.close(promise: nil)
            return
        }
        let channel = context.channel
        firstRequest = context.eventLoop.scheduleTask(
            in: .milliseconds(limits.firstByteMilliseconds)
        ) {
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        firstRequest?.cancel()
        if isCounted { table.close() }
        isCounted = false
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        firstRequest?.cancel()
        firstRequest = nil
        guard !isRefused else { return }
        guard isSurplus else { return context.fireChannelRead(data) }
        refuse(
            context,
            Problem(
                .serviceUnavailable, "too-many-connections", "Too many connections",
                detail: "the daemon serves \(limits.connectionCount) connections",
                limit: limits.connectionCount, hint: "try again", retryAfterSeconds: 5))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case HTTPParserError.headerOverflow? = error as? HTTPParserError, !isRefused else {
            context.fireErrorCaught(error)
            return
        }
        refuse(
            context,
            Problem(
                .requestHeaderFieldsTooLarge, "headers-too-large", "The headers are too large",
                detail: "all headers have at most \(limits.headerByteCount) bytes",
                limit: limits.headerByteCount, hint: "send fewer headers"))
    }

    /// Answers without asking anybody, and closes.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem) {
        isRefused = true
        let (head, body) = problem.parts
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }
}

extension Problem {
    /// Head and body where there is no router to send them through.
    fileprivate var parts: (HTTPResponse, ByteBuffer) {
        let body = document
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "application/problem+json"
        head.headerFields[.contentLength] = String(body.count)
        head.headerFields[.connection] = "close"
        if let retryAfterSeconds { head.headerFields[.retryAfter] = String(retryAfterSeconds) }
        return (head, ByteBuffer(bytes: body))
    }
}
