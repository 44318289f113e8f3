/// What a replica knows of its connection; gone with the process.
struct SyncSession: Sendable, Equatable {
    enum Stream: Sendable, Equatable {
        case closed, opening, open
    }

    struct InFlight: Sendable, Equatable {
        var request: SyncRequest
        /// When it was sent, on both clocks.
        var sent: Moment
        /// Another process has moved the replica on meanwhile: only what the answer refuses counts.
        var isOvertaken = false
    }

    /// A download of everything, page by page. Its cursor is kept only when it is complete;
    /// until then `ReplicaState.download` says how far it has come.
    struct FullPass: Sendable, Equatable {
        /// Nil until the first page has come.
        var epoch: String?
        var cursor: UInt64 = 0
        /// The daemon's history as the first page told it.
        var lineage: [SyncEpoch] = []
        /// The daemon's horizon when it began.
        var horizon: UInt64?
        /// Whether it is the replica's first one.
        var isFirst: Bool
        /// How far an earlier one had come that was not completed.
        var abandoned: SyncEpoch?
        /// What the daemon had, by key.
        var seen: [String: Record] = [:]
        /// Keys that were settled when it was asked for: those that the daemon no longer has go at its
        /// end. Keys that settle later are not judged by it, unless the daemon has lost something.
        var candidates: [String: Stamp]

        /// Whether a place is in the daemon's history.
        func knows(_ place: SyncEpoch) -> Bool {
            lineage.contains { $0.epoch == place.epoch && place.end <= $0.end }
        }
    }

    struct Waiter: Sendable, Equatable {
        var id: UInt64
        /// What had been done when the wait began. A round under way then adds to the report too.
        var start: Counts
        /// Whether a round has started since.
        var isServed = false
    }

    struct Counts: Sendable, Equatable {
        var sent = 0
        var received = 0
    }

    var isAttached = false
    var isLive = false
    var stream = Stream.closed
    /// The epoch that the stream was asked for with.
    var streamEpoch: String?
    var inFlight: InFlight?
    var pass: FullPass?
    /// The daemon has said that the cursor is of no use: the next round begins a pass.
    var needsPass = false
    var waiters: [Waiter] = []
    var counts = Counts()
    /// More pages are to come, and what is sent with them could not count as taken before the last one.
    var isBehind = false
    /// A pull is due even with nothing to send.
    var needsRound = false
    /// Monotonic milliseconds before which nothing is tried; nil when nothing has failed.
    var retryAt: Int64?
    var backoff = Backoff()
    var lastFailure: SyncTransportError?
    /// Stamps that the daemon refused for a reason that time alone does not cure.
    var blocked: [String: Stamp] = [:]
    /// Answers in a row that refused a stamp as too far ahead.
    var clockRefusals = 0

    /// The next round asks from where the replica stands then; the daemon says whether that needs a new pass.
    mutating func abandonPass() {
        guard pass != nil else { return }
        pass = nil
        needsRound = true
        inFlight?.isOvertaken = true
    }
}
