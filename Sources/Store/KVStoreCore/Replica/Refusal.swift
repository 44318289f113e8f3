/// What the daemon does not accept although it answers: an account or a disk is full, or the device may not write.
///
/// Until nothing is pending any more, changes travel apart from what is to be received. Removals are tried first, then
/// small values, in ever smaller parts. What is refused alone waits while the rest goes on, and after each back-off one
/// of what waits is tried. After a few refusals in a row everything but removals waits.
struct Refusal: Sendable, Equatable {
    struct Change: Sendable, Hashable {
        var key: StoreKey
        var stamp: StoreStamp

        init(_ record: StoreRecord) {
            key = record.key
            stamp = record.stamp
        }
    }

    private static let attemptCount = 8

    /// Nil once everything is tried again.
    private(set) var cause: SyncTransportError?
    /// What waits, in the order in which it is tried.
    private(set) var held: [Change] = []
    /// How many changes a request carries at most.
    private(set) var batchLimit = Int.max
    /// The monotonic millisecond at which one change is tried.
    private(set) var retryTime: Int64?
    private var backoff = Backoff()
    private var failureCount = 0
    private var isTrial = false

    /// Whether nothing but removals is sent.
    var isWaiting: Bool { failureCount >= Self.attemptCount && !isTrial }

    mutating func note(_ cause: SyncTransportError, of changes: [StoreRecord]) {
        self.cause = cause
        guard !cause.isReadOnly else { return }
        if isTrial {
            isTrial = false
        } else {
            failureCount = cause.mayAcceptParts ? failureCount + 1 : Self.attemptCount
        }
        if changes.count > 1, !isWaiting {
            batchLimit = max(1, changes.count / 4)
        } else {
            held += changes.map(Change.init)
        }
    }

    /// Nothing else is left to be sent. What was to be tried may have given way to another device's meanwhile.
    mutating func awaitTrial(at now: Instant, using random: inout SplitMix64) {
        isTrial = false
        retryTime = retryTime ?? now.monotonic + backoff.next(atLeast: nil, using: &random)
    }

    /// The daemon has accepted changes. If one of them was a trial, there may be room for all.
    mutating func accept() {
        failureCount = 0
        batchLimit = min(batchLimit, 1_000) * 4
        if isTrial { release() }
    }

    /// Everything is tried again, in parts.
    mutating func release() {
        (cause, held, failureCount, retryTime, isTrial) = (nil, [], 0, nil, false)
        backoff.reset()
    }

    /// The time for a trial has come: of what has not been tried alone, else of what was refused first.
    ///
    /// - Parameter pending: in the order in which it is tried.
    mutating func beginTrial(of pending: [Change]) {
        retryTime = nil
        let (known, present) = (Set(held), Set(pending))
        let untried = isWaiting ? pending.filter { !known.contains($0) } : []
        held = untried + held.filter(present.contains)
        guard !held.isEmpty else { return }
        held.removeFirst()
        isTrial = true
        batchLimit = 1
    }
}
