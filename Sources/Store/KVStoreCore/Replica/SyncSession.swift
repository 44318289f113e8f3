/// What a replica knows of its connection; lost with the process.
package struct SyncSession: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        /// There is no transport.
        case detached
        /// No request is under way.
        case idle
        case exchanging(Exchange)
        /// Nothing is tried before this monotonic millisecond.
        case backingOff(until: Int64)
    }

    /// A request under way.
    struct Exchange: Sendable, Equatable {
        var id: UInt64
        var request: SyncRequest
        var sent: Instant
        /// Another process has moved the replica on meanwhile: only the rejections of the answer count.
        var isOvertaken = false
        /// The stream failed meanwhile: nothing is tried before this monotonic millisecond.
        var backOffUntil: Int64?
    }

    enum Stream: Sendable, Equatable {
        case closed
        case opening(id: UInt64, epoch: EpochID)
        case open(id: UInt64, epoch: EpochID)
        /// An event could not be written. Later ones would leave a gap, and are ignored until the end of the stream
        /// is handled.
        case interrupted(id: UInt64)

        var id: UInt64? {
            switch self {
            case .closed: nil
            case .opening(let id, _), .open(let id, _), .interrupted(let id): id
            }
        }

        func carries(_ id: UInt64) -> Bool {
            if case .interrupted = self { false } else { self.id == id }
        }
    }

    enum Transfer: Sendable, Equatable {
        /// Changes since the cursor. While `isBehind` more pages follow and nothing is sent, because it could not
        /// count as accepted before the last page.
        case incremental(isBehind: Bool)
        /// The daemon cannot continue from the cursor: the next round begins a full download.
        case downloadDue
        case download(FullDownload)
    }

    struct Waiter: Sendable, Equatable {
        var id: UInt64
        /// What had been counted when the wait began. A round under way then adds to the report too.
        var start: Counts
        /// Whether a round has started since.
        var isServed = false
    }

    struct Counts: Sendable, Equatable {
        var sent = 0
        var received = 0
    }

    struct Failures: Sendable, Equatable {
        var last: SyncTransportError?
        var backoff = Backoff()
        /// Answers and resets since the replica last came further that made it ask again.
        var fruitlessCount = 0
    }

    var phase = Phase.detached
    var isLive = false
    var stream = Stream.closed
    var transfer = Transfer.incremental(isBehind: false)
    /// A round is due even with nothing to send.
    var isPullDue = false
    var waiters: [Waiter] = []
    var counts = Counts()
    var failures = Failures()
    /// Stamps that the daemon rejected for a reason that time alone does not cure.
    var blocked: [StoreKey: StoreStamp] = [:]
    /// Nil while the daemon accepts what it is sent.
    var refusal: Refusal?
    private var lastID: UInt64 = 0

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    var exchange: Exchange? {
        if case .exchanging(let exchange) = phase { exchange } else { nil }
    }

    var download: FullDownload? {
        if case .download(let download) = transfer { download } else { nil }
    }

    /// The next round asks from the replica's cursor then; the daemon says whether that needs a new download.
    mutating func abandonDownload() {
        guard case .download = transfer else { return }
        transfer = .incremental(isBehind: false)
        isPullDue = true
        if case .exchanging(var exchange) = phase {
            exchange.isOvertaken = true
            phase = .exchanging(exchange)
        }
    }

    /// Nothing is tried before that time, after the exchange under way if there is one.
    mutating func backOff(until time: Int64) {
        if case .exchanging(var exchange) = phase {
            exchange.backOffUntil = time
            phase = .exchanging(exchange)
        } else {
            phase = .backingOff(until: time)
        }
    }

    mutating func endBackOff() {
        switch phase {
        case .backingOff: phase = .idle
        case .exchanging(var exchange):
            exchange.backOffUntil = nil
            phase = .exchanging(exchange)
        case .detached, .idle: break
        }
    }

    var backOffTime: Int64? {
        switch phase {
        case .backingOff(let time): time
        case .exchanging(let exchange): exchange.backOffUntil
        case .detached, .idle: nil
        }
    }

    var wakeTime: Int64? { [backOffTime, refusal?.retryTime].compactMap(\.self).min() }
}
