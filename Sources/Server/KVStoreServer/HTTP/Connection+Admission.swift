import KVStoreWire
import NIOCore
import NIOHTTP1

/// The connection from the head of a request to the beginning of its body.
extension Connection {
    func begin(_ head: HTTPRequestHead) {
        self.head = head
        headTime = .now()
        phase = .body
        table.beginTick()
        if budget.tick != table.tick { budget = (table.tick, 0) }
        budget.requestCount += 1
        table.deadlines.begin(.answer, of: self)
        admit(head)
    }

    private func admit(_ head: HTTPRequestHead) {
        let fields = RequestFields(head.headers)
        isLastRequest = !head.isKeepAlive || fields.hasUpgrade || head.method == .CONNECT
        do throws(Problem) {
            guard let request = try server.admit(head, fields, on: self) else { return }
            try reserve(fields.contentLength ?? 0)
            self.request = request
            if fields.expectsContinue, head.version != .http1_0 {
                write(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"))
            }
        } catch {
            refuse(error, isLast: isSurplus || !canSkipBody(after: head, fields))
        }
    }

    /// Whether what follows the head is short enough to be read after an early answer.
    private func canSkipBody(after head: HTTPRequestHead, _ fields: RequestFields) -> Bool {
        guard fields.hasBody else { return true }
        guard head.method.hasRequestBody, !fields.expectsContinue else { return false }
        return fields.contentLength.map { $0 <= server.limits.bodyByteCount } ?? false
    }

    /// Goes on with the head when the devices know the token's; until then, what follows is queued.
    func lookUp(_ digest: TokenDigest) {
        guard let loop = context?.eventLoop else { return }
        phase = .lookup
        let connection = NIOLoopBound((self, ticket), eventLoop: loop)
        server.devices.lookUp(digest) { problem in
            loop.execute {
                let (connection, ticket) = connection.value
                if connection.ticket == ticket { connection.finishLookup(problem) }
            }
        }
    }

    private func finishLookup(_ problem: Problem?) {
        guard phase == .lookup, let head else { return }
        phase = .body
        guard let problem else {
            admit(head)
            return resume()
        }
        refuse(problem, isLast: isSurplus || !canSkipBody(after: head, RequestFields(head.headers)))
    }

    /// Why there was no answer in time.
    var timeout: Problem {
        switch phase {
        case .body: .requestTimeout(seconds: Int(server.limits.requestMilliseconds / 1_000))
        case .lookup: .databaseUnavailable
        default: .outcomeUnknown
        }
    }
}
