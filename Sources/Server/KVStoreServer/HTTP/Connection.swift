import KVStoreLog
import KVStoreWire
import NIOCore
import NIOHTTP1

/// One client connection: reads requests, has the server answer them, and writes the answers.
///
/// One request at a time: while its answer waits for the disk or for the peer to read, the next request is queued with
/// what was read together with it, and nothing more is read, so pipelined requests are answered in order. No task,
/// timer or lock belongs to a request. On the event loop only.
final class Connection: ChannelDuplexHandler, Watcher {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let server: StoreServer
    let table: ConnectionTable
    private(set) var context: ChannelHandlerContext?
    var phase = Phase.idle
    var wait: Waiting?
    /// The device of the last request, with the header that authenticated it.
    var identity: Identity?
    /// Beyond the limit on connections, unless the first request has a valid token.
    var isSurplus = false
    var place: ConnectionTable.Place?
    private(set) var address = "local"
    var stream: (any LiveStream)?

    var request: Request?
    var head: HTTPRequestHead?
    var headTime: NIODeadline?
    /// Changes with each answer, so that what completes late is recognized.
    var ticket: UInt64 = 0
    /// Bytes of the body, as counted by the table.
    private var reservedByteCount = 0
    private var queue: CircularBuffer<HTTPServerRequestPart>?
    private var isReadHeld = false
    /// Whether what is read are parts of requests.
    private var hasDecoder = true
    private var isFlushing = false
    private var isResuming = false
    var isInputClosed = false
    /// What the parser stopped at, answered after the requests before it.
    private var inputError: (any Error)?
    /// The peer wants no answer after this one, or goes on with another protocol, which is not parsed.
    var isLastRequest = false
    var isStopping = false
    /// The requests of the present tick.
    var budget: (tick: UInt64, requestCount: Int) = (0, 0)
    var isPaused = false
    /// Since when the device's turn pays for what the connection does.
    var workStart: NIODeadline?
    /// Unsent bytes when the wait for the peer to read began.
    private var unreadByteCount = 0

    init(_ server: StoreServer, _ table: ConnectionTable) {
        self.server = server
        self.table = table
    }

    // MARK: - Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        address = context.remoteAddress?.network ?? "local"
        table.add(self)
        if phase != .closing { table.deadlines.begin(.firstRequest, of: self) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        phase = .closing
        ticket += 1
        endStream()
        release()
        for part in queue ?? [] { table.release(part.memoryByteCount) }
        queue = nil
        table.deadlines.end(of: self)
        table.remove(self)
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard hasDecoder else { return phase == .stream ? close() : () }
        let part = unwrapInboundIn(data)
        if queue == nil, accepts {
            take(part)
        } else if phase != .closing {
            let isStranger = place != nil && queue?.count ?? 0 >= strangersQueueCount
            guard !isStranger, table.reserve(part.memoryByteCount) else { return close() }
            queue = queue ?? CircularBuffer()
            queue?.append(part)
            if isOverBudget { pause() }
        }
    }

    /// Parts that a connection without a valid token may have waiting. They do not count as much memory as they take.
    /// While the token is looked up, nothing more is read than what came with it.
    private var strangersQueueCount: Int { phase == .lookup ? 256 : 32 }

    func read(context: ChannelHandlerContext) {
        if queue == nil { context.read() } else { isReadHeld = true }
    }

    private var accepts: Bool {
        switch phase {
        case .answer, .lookup: false
        case .idle: !isOverBudget && context?.channel.isWritable ?? true
        case .body, .remainder, .stream, .closing: true
        }
    }

    /// Requests of one connection in one tick: pipelined ones must not hold up other connections.
    private static let requestsPerTick = 16

    private var isOverBudget: Bool { isTurnOver || budget == (table.tick, Self.requestsPerTick) }

    /// Goes on with what was read while an answer was due.
    func resume() {
        guard !isResuming else { return }
        isResuming = true
        defer { isResuming = false }
        while accepts, let part = queue?.popFirst() {
            table.release(part.memoryByteCount)
            take(part)
        }
        guard queue?.isEmpty ?? true else { return isOverBudget ? pause() : () }
        queue = nil
        if inputError != nil { refuseInput() }
        if isInputClosed { endInput() }
        if isReadHeld {
            isReadHeld = false
            context?.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isInputClosed = true
            if queue == nil { endInput() }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The peer sends nothing more; an answer that is due is still written.
    private func endInput() {
        switch phase {
        case .idle, .remainder: closeAfterWrites()
        case .stream: close()
        case .body: refuse(.malformed("the body is incomplete"), isLast: true)
        // The end of the last answer closes the connection.
        case .answer, .lookup, .closing: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isFlushing {
            beginWait()
            if context.channel.isWritable {
                if phase == .stream { pump() } else { resume() }
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Those of the decoder: data after an error of the parser, or more of another protocol than is kept.
        guard
            error is HTTPParserError || error is ByteToMessageDecoderError
                || error is ByteToMessageDecoderError.PayloadTooLargeError
        else { return close() }
        inputError = inputError ?? error
        if queue == nil { refuseInput() }
    }

    /// Nothing more can be parsed.
    private func refuseInput() {
        switch phase {
        case .idle, .body:
            let problem: Problem =
                switch inputError as? HTTPParserError {
                case .headerOverflow: .headersTooLarge(limit: server.limits.headerByteCount)
                case .invalidEOFState where phase == .body: .malformed("the body is incomplete")
                default: .malformed("the request is not valid HTTP/1.1")
                }
            phase = .body
            refuse(problem, isLast: true)
        case .remainder: closeAfterWrites()
        case .stream: close()
        case .answer, .lookup, .closing: break
        }
    }

    private func closeAfterWrites() {
        guard unsentByteCount > 0 else { return close() }
        phase = .closing
        write(ByteBuffer(), isLast: true)
    }

    func close() { context?.close(promise: nil) }

    /// Frees the decoder of a stream, whose connection reads no request any more, with what it keeps of the last one.
    func removeDecoder() {
        guard let pipeline = context?.pipeline.syncOperations,
            // The channel may have been closed by a write.
            let decoder = try? pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        else { return }
        hasDecoder = false
        pipeline.removeHandler(context: decoder, promise: nil)
    }

    // MARK: - Requests

    private func take(_ part: HTTPServerRequestPart) {
        switch (phase, part) {
        case (.idle, .head(let head)): begin(head)
        case (.body, .body(let bytes)): add(bytes)
        case (.body, .end): finish()
        case (.remainder, .end): becomeIdle()
        case (.stream, .head): close()
        default: break
        }
    }

    private func add(_ bytes: ByteBuffer) {
        // A copy of the request would make each piece copy the body before it.
        guard let present = request?.body.readableBytes, let resource = request?.resource else { return }
        let count = present + bytes.readableBytes
        let limit = server.bodyByteLimit(of: resource)
        guard count <= limit else { return refuse(.bodyTooLarge(limit: limit), isLast: true) }
        do throws(Problem) {
            if count > reservedByteCount { try reserve(count) }
        } catch {
            return refuse(error, isLast: true)
        }
        if present == 0 {
            self.request!.body = bytes
        } else {
            self.request!.body.writeImmutableBuffer(bytes)
        }
    }

    func reserve(_ count: Int) throws(Problem) {
        guard table.reserve(count - reservedByteCount) else { throw .busy }
        reservedByteCount = count
    }

    func release() {
        table.release(reservedByteCount)
        reservedByteCount = 0
        request = nil
        head = nil
        headTime = nil
    }

    private func finish() {
        guard let request = request.take() else { return becomeIdle() }
        guard server.isAllowed(request, on: self) else { return send(Answer(.unauthorized), isRead: true) }
        let ticket = ticket
        phase = .answer
        work {
            server.entry.receive(request, by: server, on: table.watchers) { [self] result in
                guard self.ticket == ticket else { return }
                work { respond(result) }
            }
        }
    }

    private func respond(_ result: Result<Response, Problem>) {
        do throws(Problem) {
            switch try result.get() {
            case .answer(let answer): send(answer, isRead: true)
            case .stream(let stream): begin(stream)
            case .disconnection: close()
            }
        } catch {
            send(server.answer(error, to: head), isRead: true)
        }
    }

    /// Answers before the request has been read.
    func refuse(_ problem: Problem, isLast: Bool) {
        var answer = server.answer(problem, to: head)
        if problem.status == 405, let resource = head.flatMap({ server.resource(at: $0.path) }) {
            answer.fields.append(("Allow", resource.methods.map(\.rawValue).joined(separator: ", ")))
        }
        answer.isLast = isLast
        send(answer, isRead: false)
    }

    // MARK: - Answers

    /// - Parameter isRead: whether the request has been read to its end.
    private func send(_ answer: Answer, isRead: Bool) {
        guard let context else { return }
        var answer = answer
        if head?.method == .HEAD { answer.dropBody() }
        let isEnd = isInputClosed && queue?.isEmpty ?? true
        if isStopping || isEnd || isLastRequest { answer.isLast = true }
        if let head { answer.fields += server.entry.fields(ofAnswerTo: head) }
        server.record(&answer, of: head, device: identity?.device, since: headTime)
        release()
        ticket += 1
        var buffer = context.channel.allocator.buffer(capacity: 256 + answer.body.readableBytes)
        answer.write(to: &buffer, date: table.date)
        phase = answer.isLast ? .closing : isRead ? .idle : .remainder
        write(buffer, isLast: answer.isLast)
        payForWork()
        resume()
    }

    /// Writes and flushes at once; more than a little that the system does not take makes the channel unwritable.
    ///
    /// - Parameter isLast: closes the output when everything has been written.
    func write(_ buffer: ByteBuffer, isLast: Bool = false) {
        guard let context else { return }
        var written: EventLoopPromise<Void>?
        if isLast {
            written = context.eventLoop.makePromise()
            written?.futureResult.assumeIsolated().whenComplete { _ in
                context.close(mode: .output, promise: nil)
            }
        }
        isFlushing = true
        context.writeAndFlush(wrapOutboundOut(buffer), promise: written)
        isFlushing = false
        beginWait()
    }

    private func becomeIdle() {
        phase = .idle
        if isStopping { closeAfterWrites() } else { beginWait() }
    }

    /// Begins the wait that belongs to the present state.
    func beginWait() {
        guard let context else { return }
        if !context.channel.isWritable {
            if wait?.kind != .reader {
                unreadByteCount = unsentByteCount
                table.deadlines.begin(.reader, of: self)
            }
            return
        }
        switch phase {
        case .idle: table.deadlines.begin(.nextRequest, of: self)
        case .remainder, .closing: table.deadlines.begin(.remainder, of: self)
        case .stream:
            // Not begun anew by events: beginning costs more than a heartbeat too many.
            if wait?.kind != .heartbeat { table.deadlines.begin(.heartbeat, of: self) }
        case .body, .lookup, .answer:
            if wait?.kind == .reader { table.deadlines.begin(.answer, of: self) }
        }
    }

    func expire(_ wait: Wait) {
        switch wait {
        case .answer:
            refuse(timeout, isLast: true)
        case .reader where unsentByteCount < unreadByteCount: beginWait()
        case .reader:
            server.metrics.count { $0.slowReaders += 1 }
            close()
        case .firstRequest, .nextRequest, .remainder: close()
        case .heartbeat: beat()
        }
    }

    /// The server stops: nothing is begun any more.
    func stop() {
        isStopping = true
        switch phase {
        case .idle: closeAfterWrites()
        case .stream: finishStream()
        case .body, .lookup, .answer, .remainder, .closing: break
        }
    }
}
