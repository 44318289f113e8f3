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

/// A percentage in steps of a half, from 0 to 127.
///
/// Nothing but 0 is stored as 0 and nothing below 100 as 100, so that the ends keep their meaning.
package struct PercentLevel: Sendable, Hashable, Comparable {
    /// Half percents, at most 254.
    let halves: UInt8

    package static let zero = PercentLevel(halves: 0)
    static let full: UInt8 = 200
    static let greatest: UInt8 = 254

    init(halves: UInt8) { self.halves = min(halves, Self.greatest) }

    /// Nil for what is not a number. Clamped to the range.
    package init?(percent: Double) {
        guard percent.isFinite else { return nil }
        let nearest = UInt8(min(max((percent * 2).rounded(), 0), Double(Self.greatest)))
        self.init(
            halves: percent > 0 && nearest == 0
                ? 1 : percent < 100 && nearest >= Self.full ? Self.full - 1 : nearest)
    }

    package var percent: Double { Double(halves) / 2 }
    package var isReached: Bool { halves >= Self.full }

    package static func < (left: PercentLevel, right: PercentLevel) -> Bool { left.halves < right.halves }
}
