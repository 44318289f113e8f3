/// What is known of one window's past. Times are whole seconds since 1970.
package struct WindowHistory: Sendable, Equatable {
    /// The newest observation, from which the next one is judged.
    package struct Observation: Sendable, Equatable {
        package var time: Int
        /// 0 after the reset.
        package var level: PercentLevel
        /// Nil if unknown, and after the reset.
        package var resetsAt: Int?

        fileprivate var rank: (Int, Int, PercentLevel) { (time, resetsAt ?? 0, level) }
    }

    /// What an observation means for a writer.
    enum Change: Int, Comparable {
        case nothing, level
        /// A new slot, or a mark.
        case slot

        static func < (left: Change, right: Change) -> Bool { left.rawValue < right.rawValue }
    }

    /// By how much a reset must move, with a falling percent, to be that of another window: it is often calculated.
    private static let resetTolerance = 900

    package internal(set) var last: Observation
    package internal(set) var fine = SlotTrack.fine
    package internal(set) var coarse = SlotTrack.coarse

    /// Whether there is anything to keep.
    var isEmpty: Bool { fine.isEmpty && coarse.isEmpty }

    /// Adds an observation. An older one than the last is ignored, as is one of a window that had ended by then.
    mutating func observe(_ level: PercentLevel, resetsAt: Int?, at time: Int, isEstimate: Bool) -> Change {
        guard time >= last.time, resetsAt.map({ $0 > time }) ?? true else { return .nothing }
        var change = passReset(at: time)
        if let old = last.resetsAt, let resetsAt, level < last.level, resetsAt > old + Self.resetTolerance {
            markReset(at: time)
            change = .slot
        }
        let number = fine.number(at: time)
        let old = fine[number]
        if old.level == nil || (level.isReached && !old.isReached) { change = .slot }
        if old.level != level { change = max(change, .level) }
        updateSlots(at: time) { slot in
            slot.level = level
            slot.isEstimate = isEstimate
            if level.isReached { slot.isReached = true }
        }
        last = Observation(time: time, level: level, resetsAt: resetsAt)
        return change
    }

    /// Marks the reset if its time has come. Nothing to mark if nothing was used.
    mutating func passReset(at now: Int) -> Change {
        guard let resetsAt = last.resetsAt, resetsAt <= now else { return .nothing }
        let wasUsed = last.level > .zero
        if wasUsed { markReset(at: resetsAt) }
        last.level = .zero
        last.resetsAt = nil
        return wasUsed ? .slot : .nothing
    }

    private mutating func markReset(at time: Int) {
        let last = last
        for track in [\WindowHistory.fine, \.coarse] {
            let observed = self[keyPath: track].number(at: last.time)
            let number = self[keyPath: track].number(at: time)
            self[keyPath: track].update(number) { slot in
                slot.levelBeforeReset = max(slot.levelBeforeReset ?? .zero, last.level)
                // It is of before the reset, and what comes after it is unknown.
                if observed == number { (slot.level, slot.isEstimate) = (nil, false) }
            }
        }
    }

    private mutating func updateSlots(at time: Int, _ change: (inout HistorySlot) -> Void) {
        fine.update(fine.number(at: time), change)
        coarse.update(coarse.number(at: time), change)
    }

    /// Removes what is older than it is kept for, or later than a clock may be ahead.
    mutating func trim(at now: Int, tolerance: Int) {
        for track in [\WindowHistory.fine, \.coarse] {
            let kept = self[keyPath: track]
            self[keyPath: track].keep(
                from: kept.number(at: now - kept.span) + 1, before: kept.number(at: now + tolerance) + 1)
        }
        if last.time > now + tolerance {
            last = Observation(time: 0, level: .zero, resetsAt: nil)
        }
    }

    /// The history as two devices know it.
    func merged(with other: WindowHistory) -> WindowHistory {
        WindowHistory(
            last: last.rank < other.last.rank ? other.last : last,
            fine: fine.merged(with: other.fine), coarse: coarse.merged(with: other.coarse))
    }
}
