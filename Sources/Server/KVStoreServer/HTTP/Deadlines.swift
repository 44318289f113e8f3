import NIOCore

/// What a connection waits for, each for a time of its own.
enum Wait: Int, CaseIterable {
    /// The first request, the next one, the rest of a request and its answer, the peer to read, the rest of a body
    /// after its answer, silence on a live stream.
    case firstRequest, nextRequest, answer, reader, remainder, heartbeat
}

/// The deadlines of all connections, with one timer. On the event loop only.
///
/// Every wait of a kind takes equally long, so the connections of a kind, in the order in which they began to wait,
/// are sorted by deadline: a list for each kind makes beginning and ending a wait a few assignments.
final class Deadlines {
    private struct List {
        /// Retains the connections, each by the one before it.
        var first: Connection?
        unowned(unsafe) var last: Connection?
    }

    private let loop: any EventLoop
    private let milliseconds: [Int64]
    private var lists = Wait.allCases.map { _ in List() }
    /// When the timer fires; nil without a timer. It may fire early, as waits end without touching it.
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?

    init(_ limits: ServerLimits, loop: any EventLoop) {
        self.loop = loop
        milliseconds = Wait.allCases.map { wait in
            switch wait {
            case .firstRequest: limits.firstByteMilliseconds
            case .nextRequest: limits.idleMilliseconds
            case .answer: limits.requestMilliseconds
            case .reader: limits.slowReaderMilliseconds
            case .remainder: limits.drainMilliseconds
            case .heartbeat: limits.heartbeatMilliseconds
            }
        }
    }

    /// Begins a wait; the one before ends.
    func begin(_ wait: Wait, of connection: Connection) {
        end(of: connection)
        let deadline = NIODeadline.now() + .milliseconds(milliseconds[wait.rawValue])
        connection.wait = Connection.Waiting(wait, until: deadline)
        if let last = lists[wait.rawValue].last {
            last.wait!.next = connection
            connection.wait!.previous = last
        } else {
            lists[wait.rawValue].first = connection
        }
        lists[wait.rawValue].last = connection
        schedule(deadline)
    }

    func end(of connection: Connection) {
        guard let wait = connection.wait else { return }
        if let previous = wait.previous {
            previous.wait!.next = wait.next
        } else {
            lists[wait.kind.rawValue].first = wait.next
        }
        if let next = wait.next {
            next.wait!.previous = wait.previous
        } else {
            lists[wait.kind.rawValue].last = wait.previous
        }
        connection.wait = nil
    }

    func stop() {
        timer?.task.cancel()
        timer = nil
    }

    private func schedule(_ deadline: NIODeadline) {
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        timer = (loop.assumeIsolated().scheduleTask(deadline: deadline) { self.fire() }, deadline)
    }

    private func fire() {
        timer = nil
        let now = NIODeadline.now()
        for wait in Wait.allCases {
            while let connection = lists[wait.rawValue].first, connection.wait!.deadline <= now {
                end(of: connection)
                connection.expire(wait)
            }
        }
        let next = lists.compactMap { $0.first?.wait?.deadline }.min()
        if let next { schedule(next) }
    }
}

extension Connection {
    enum Phase {
        /// Between two requests.
        case idle
        /// Reads the body of a request.
        case body
        /// The device of a request is looked up.
        case lookup
        /// The answer waits for the disk.
        case answer
        /// Skips the rest of a body whose answer has been written.
        case remainder
        case stream
        /// The last answer has been written; input is dropped until the peer closes too.
        case closing
    }

    /// A place in the list of connections with the same wait.
    struct Waiting {
        let kind: Wait
        let deadline: NIODeadline
        var next: Connection?
        unowned(unsafe) var previous: Connection?

        init(_ kind: Wait, until deadline: NIODeadline) {
            self.kind = kind
            self.deadline = deadline
        }
    }

    /// Bytes that the system has not taken yet, because the peer does not read.
    var unsentByteCount: Int {
        // A channel without the option has nothing unsent.
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
