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
