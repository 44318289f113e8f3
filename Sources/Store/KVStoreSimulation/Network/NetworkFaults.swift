package import KVStoreCore

/// The faults of one device's network. Time and randomness come from the caller.
package struct NetworkFaults: Sendable {
    /// A fault that is in effect.
    package struct Active: Sendable, Equatable {
        package let id: Int
        package let fault: NetworkFault
        /// In milliseconds, as all times here; nil without an end.
        package fileprivate(set) var end: Int64?
        package fileprivate(set) var remaining: Int?
        fileprivate var random: SplitMix64?
        /// When the requests of a throttle's window came, oldest first.
        fileprivate var requestTimes: [Int64] = []
    }

    /// What becomes of a message.
    package enum Outcome: Sendable, Equatable {
        /// It arrives after these additional milliseconds; a second number is that of a copy.
        case arrives([Int64])
        case lost
        case fails(SyncTransportError)
    }

    package private(set) var active: [Active] = []
    private var lastID = 0

    private static let copyMilliseconds: ClosedRange<Int64> = 0...2_000

    package init() {}

    /// Returns the id to remove it by.
    package mutating func add(_ fault: NetworkFault, now: Int64) -> Int {
        lastID += 1
        active.append(
            Active(
                id: lastID, fault: fault, end: fault.timeToLive.map { now + max(0, $0.milliseconds) },
                remaining: fault.count, random: fault.seed.map { SplitMix64(seed: $0) }))
        return lastID
    }

    package mutating func remove(where isRemoved: (Active) -> Bool) {
        active.removeAll(where: isRemoved)
    }

    /// Ends those whose time is over; returns them. After a clock was set back, a fault lasts no longer than its time
    /// to live.
    package mutating func expire(now: Int64) -> [Active] {
        for index in active.indices {
            guard let end = active[index].end, let timeToLive = active[index].fault.timeToLive else { continue }
            active[index].end = min(end, now + max(0, timeToLive.milliseconds))
        }
        let ended = active.filter { ($0.end ?? .max) <= now }
        if !ended.isEmpty { active.removeAll { ($0.end ?? .max) <= now } }
        return ended
    }

    /// When the next fault ends by itself.
    package var nextEnd: Int64? { active.compactMap(\.end).min() }

    package var isOffline: Bool { active.contains { $0.fault.effect == .offline } }

    package func holds(_ message: NetworkFault.Message) -> Bool {
        active.contains { $0.fault.effect == .hold && $0.fault.messages.contains(message) }
    }

    /// Decides about a message that is sent now. The order of the draws is that of the faults.
    ///
    /// - Parameter message: nil for the opening of a stream, which can only be late.
    package mutating func send(_ message: NetworkFault.Message?, random: inout SplitMix64) -> Outcome {
        var extra: Int64 = 0
        var copy: Int64?
        var outcome: Outcome?
        for index in active.indices where outcome == nil {
            let fault = active[index].fault
            switch fault.effect {
            case .offline, .hold, .throttle: continue
            case .duplicate, .fail: guard message == .request else { continue }
            case .drop: guard message != nil else { continue }
            case .delay, .reorder: break
            }
            guard strikes(index, message, &random) else { continue }
            switch fault.effect {
            case .delay(let duration): extra += max(0, duration.milliseconds)
            case .reorder(let duration): extra += draw(0...max(0, duration.milliseconds), index, &random)
            case .drop: outcome = .lost
            case .fail(let error): outcome = .fails(error)
            case .duplicate: copy = draw(Self.copyMilliseconds, index, &random)
            case .offline, .hold, .throttle: break
            }
        }
        active.removeAll { $0.remaining == 0 && $0.fault.effect != .hold }
        return outcome ?? .arrives([extra] + (copy.map { [extra + $0] } ?? []))
    }

    /// How many seconds a request that arrives now has to wait; nil if it is accepted, which counts it.
    package mutating func throttleSeconds(now: Int64) -> Double? {
        var wait: Int64?
        for index in active.indices {
            guard case .throttle(let throttle) = active[index].fault.effect else { continue }
            let window = throttle.window.milliseconds
            // A clock may have been set back.
            active[index].requestTimes.removeAll { $0 <= now - window || $0 > now }
            guard active[index].requestTimes.count >= throttle.requestCount else { continue }
            let first = active[index].requestTimes.first ?? now
            wait = max(wait ?? 0, first + window - now)
        }
        if let wait { return Double(wait) / 1_000 }
        for index in active.indices { active[index].countRequest(now) }
        return nil
    }

    private mutating func strikes(_ index: Int, _ message: NetworkFault.Message?, _ random: inout SplitMix64) -> Bool {
        let fault = active[index].fault
        guard fault.messages.contains(message ?? .event), active[index].remaining != 0 else {
            return false
        }
        if fault.probability < 1 {
            let drawn = Double(draw(0...999_999, index, &random)) / 1_000_000
            guard drawn < fault.probability else { return false }
        }
        if let remaining = active[index].remaining { active[index].remaining = remaining - 1 }
        return true
    }

    private mutating func draw(_ range: ClosedRange<Int64>, _ index: Int, _ random: inout SplitMix64) -> Int64 {
        guard active[index].random != nil else { return .random(in: range, using: &random) }
        return .random(in: range, using: &active[index].random!)
    }
}

extension NetworkFaults.Active {
    fileprivate mutating func countRequest(_ now: Int64) {
        if case .throttle = fault.effect { requestTimes.append(now) }
    }
}
