import HTTPTypes
import HummingbirdCore
import KVStoreWire
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Keeps one connection to the server's limits, whatever the routes do:
///
/// * a connection beyond the limit, or with headers beyond it, gets an error answer and is closed;
/// * the first request arrives within `firstByteMilliseconds`;
/// * each answer begins within `requestMilliseconds` of its request, the time for the body included;
///   otherwise this handler answers in the route's place and closes the connection;
/// * a reader that reads nothing for `slowReaderMilliseconds` is disconnected;
/// * once the server stops, the connection ends within `stopMilliseconds`.
///
/// A live stream begins its answer at once, so only the last two apply to it. One timer serves all
/// limits, and a request costs it nothing.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Wait { case firstRequest, answer, reader, remainder }

    private let table: ConnectionTable
    private let limits: ServerLimits
    private let metrics: Metrics
    private var isSurplus = false

    /// Requests whose answer has not ended.
    private var requestCount = 0
    /// Whether a part of the last request's body is still to come, and whether it is short enough
    /// to be skipped after an answer that did not need it.
    private var isBodyPending = false
    private var isBodySkippable = false
    private var isAnswering = false
    private var isStream = false
    /// The answer under way is the connection's last one.
    private var closesAfterAnswer = false
    /// The last answer has been written: what still arrives is dropped.
    private var isClosing = false

    private var wait: (kind: Wait, deadline: NIODeadline)?
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var stop: Scheduled<Void>?

    init(table: ConnectionTable, limits: ServerLimits, metrics: Metrics) {
        self.table = table
        self.limits = limits
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let count = table.open()
        isSurplus = count > limits.connectionCount
        if count > limits.connectionCount + limits.surplusConnectionCount {
            context.close(promise: nil)
        } else {
            wait(for: .firstRequest, milliseconds: limits.firstByteMilliseconds, context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        stop?.cancel()
        table.close()
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let request):
            requestCount += 1
            guard !isSurplus else {
                return answer(.tooManyConnections(limit: limits.connectionCount), context)
            }
            guard !isStream else { return context.close(promise: nil) }
            isBodyPending = true
            let byteCount = request.headerFields[.contentLength].flatMap { Int($0) }
            isBodySkippable = byteCount.map { $0 <= limits.bodyByteCount } ?? false
        case .body: break
        case .end: isBodyPending = false
        }
        update(context)
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endBody(context)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            endBody(context)
            if isClosing { return context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent:
            stop = context.eventLoop.assumeIsolated().scheduleTask(
                in: .milliseconds(limits.stopMilliseconds)
            ) { context.close(promise: nil) }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// A body that ends with the connection must not look complete to its reader.
    private func endBody(_ context: ChannelHandlerContext) {
        guard isBodyPending else { return }
        isBodyPending = false
        context.fireErrorCaught(IncompleteBody())
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case HTTPParserError.headerOverflow? = error as? HTTPParserError, !isAnswering,
            !isClosing
        {
            requestCount += 1
            answer(.headersTooLarge(limit: limits.headerByteCount), context)
        } else {
            context.fireErrorCaught(error)
        }
    }

    // MARK: - Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.fail(ChannelError.alreadyClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind != .informational:
            context.write(wrapOutboundOut(.head(begin(head))), promise: promise)
            if isStream, requestCount > 1 { context.close(promise: nil) }
        case .end:
            isAnswering = false
            requestCount -= 1
            if closesAfterAnswer {
                isClosing = true
                context.writeAndFlush(data, promise: promise)
                context.close(mode: .output, promise: nil)
            } else {
                context.write(data, promise: promise)
            }
        default: context.write(data, promise: promise)
        }
        update(context)
    }

    private func begin(_ head: HTTPResponse) -> HTTPResponse {
        var head = head
        isAnswering = true
        isStream = head.headerFields[.contentType] == MediaType.eventStream
        if isBodyPending, requestCount == 1, !isBodySkippable {
            head.headerFields[.connection] = "close"
        }
        closesAfterAnswer = head.headerFields[.connection] == "close"
        metrics.count { $0.answers[head.status.code / 100, default: 0] += 1 }
        return head
    }

    /// Answers in the place of a route, and closes the connection.
    private func answer(_ problem: Problem, _ context: ChannelHandlerContext) {
        let response = problem.response
        var head = begin(response.head)
        head.headerFields[.connection] = "close"
        isClosing = true
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: problem.json))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        update(context)
    }

    // MARK: - Time

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        update(context)
        context.fireChannelWritabilityChanged()
    }

    /// Sets what the connection waits for now; the time of what it waited for already goes on.
    private func update(_ context: ChannelHandlerContext) {
        if isClosing || (isBodyPending && requestCount == 0) {
            wait(for: .remainder, milliseconds: limits.drainMilliseconds, context)
        } else if !context.channel.isWritable {
            wait(for: .reader, milliseconds: limits.slowReaderMilliseconds, context)
        } else if requestCount > 0, !isAnswering {
            wait(for: .answer, milliseconds: limits.requestMilliseconds, context)
        } else {
            wait = nil
        }
    }

    private func wait(for kind: Wait, milliseconds: Int64, _ context: ChannelHandlerContext) {
        guard wait?.kind != kind else { return }
        wait = (kind, .now() + .milliseconds(milliseconds))
        schedule(context)
    }

    /// A timer that fires too early looks again, so that few timers are needed for many requests.
    private func schedule(_ context: ChannelHandlerContext) {
        guard let deadline = wait?.deadline else { return }
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            guard let wait = self.wait else { return }
            if wait.deadline <= .now() {
                self.expire(wait.kind, context)
            } else {
                self.schedule(context)
            }
        }
        timer = (task, deadline)
    }

    private func expire(_ kind: Wait, _ context: ChannelHandlerContext) {
        switch kind {
        case .answer:
            let isBodyMissing = isBodyPending && requestCount == 1
            answer(
                isBodyMissing
                    ? .requestTimeout(milliseconds: limits.requestMilliseconds) : .outcomeUnknown,
                context)
        case .reader:
            metrics.count { $0.slowReaders += 1 }
            context.close(promise: nil)
        case .firstRequest, .remainder: context.close(promise: nil)
        }
    }
}

/// The connection ended within a request's body.
struct IncompleteBody: Error {}
