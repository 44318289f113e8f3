import HTTPTypes
import HummingbirdCore
import KVStoreWire
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Enforces the limits of one connection, independently of the routes:
///
/// * A connection beyond the limit, or with oversized headers, is answered with an error and closed.
/// * The first request arrives within `firstByteMilliseconds`.
/// * Each answer begins within `requestMilliseconds` of its request's head, which includes reading
///   the body. Otherwise this handler answers instead of the route and closes the connection.
/// * A client that reads nothing for `slowReaderMilliseconds` is disconnected.
/// * When the server stops, the connection is closed after `stopMilliseconds`.
///
/// The answer of a live stream begins at once, so only the last two apply to it. All limits share one
/// timer, which requests do not reschedule.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Wait { case firstRequest, answer, reader, remainder }

    private let limits: ServerLimits
    private let metrics: Metrics
    private var isSurplus = false

    /// Requests whose answer has not ended.
    private var requestCount = 0
    /// Whether the last request's body is incomplete, and whether it is short enough to be skipped
    /// after an answer that precedes its end.
    private var isBodyPending = false
    private var isBodySkippable = false
    private var isAnswering = false
    private var isStream = false
    /// Whether the present answer is the last of the connection.
    private var closesAfterAnswer = false
    /// Whether the last answer has been written; further input is dropped.
    private var isClosing = false

    private var wait: (kind: Wait, deadline: NIODeadline)?
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var stop: Scheduled<Void>?

    init(limits: ServerLimits, metrics: Metrics) {
        self.limits = limits
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let count = metrics.count { counters in
            counters.connections += 1
            return counters.connections
        }
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
        metrics.count { $0.connections -= 1 }
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

    /// Makes a body that the connection's end cuts off an error for its reader, not a shorter body.
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

    /// Answers instead of the route and closes the connection.
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

    /// Sets what the connection waits for; the deadline of an ongoing wait is kept.
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

    /// A timer that fires before the deadline is rescheduled, so requests need no timer of their own.
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
            let seconds = Int(limits.requestMilliseconds / 1_000)
            answer(isBodyMissing ? .requestTimeout(seconds: seconds) : .outcomeUnknown, context)
        case .reader:
            metrics.count { $0.slowReaders += 1 }
            context.close(promise: nil)
        case .firstRequest, .remainder: context.close(promise: nil)
        }
    }
}

/// The connection ended before the request's body did.
struct IncompleteBody: Error {}
