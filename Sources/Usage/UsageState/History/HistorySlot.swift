/// What was observed of one window in one span of time.
package struct HistorySlot: Sendable, Equatable {
    /// The last observation, after the reset if there is one; nil without any.
    package var level: PercentLevel?
    /// Whether that was an estimate.
    package var isEstimate = false
    /// Whether the limit was reached.
    package var isReached = false
    /// The window was reset: the last level known of before.
    package var levelBeforeReset: PercentLevel?

    package static let gap = HistorySlot()

    package var isGap: Bool { self == .gap }
    /// The most that is known to have been used.
    package var greatest: PercentLevel? {
        guard let levelBeforeReset else { return level }
        return level.map { max($0, levelBeforeReset) } ?? levelBeforeReset
    }

    /// The slot of two devices: the newer level, and the marks of both.
    ///
    /// Use only rises until the reset, so the newer level is the one after the reset, else the greater one; an exact
    /// one stands before an estimate. Commutative, associative and idempotent.
    func merged(with other: HistorySlot) -> HistorySlot {
        var result = rank < other.rank ? other : self
        result.isReached = isReached || other.isReached
        result.levelBeforeReset = [levelBeforeReset, other.levelBeforeReset].compactMap { $0 }.max()
        return result
    }

    private var rank: (Int, Int, Int) {
        (levelBeforeReset == nil ? 0 : 1, level == nil ? 0 : isEstimate ? 1 : 2, level.map { Int($0.halves) } ?? 0)
    }
}
