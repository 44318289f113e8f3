package import ClockZones
import Essentials

/// When the user of a limit works, learned from the earlier windows that were observed from their start to their reset.
///
/// A profile says how many percent are used per second in each hour of the user's week, or for windows of less than six
/// days, of the day. It is what the earlier windows' rises in that hour add up to, divided by the time that they
/// covered it. An eighth of it is spread evenly, because nobody works by the clock alone; an hour that no window has
/// covered has the average rate.
package struct WorkingHours: Sendable {
    /// Earlier windows that are needed, and of how many the newest count.
    package static let leastWindowCount = 3
    private static let weekWindowLimit = 4
    private static let dayWindowLimit = 20
    private static let evenPart = 0.125

    /// The windows that were learned from.
    package let windowCount: Int
    /// Percent per second, by hour.
    let rates: [Double]
    private let clock: LocalHours

    /// Nil with fewer than three complete windows, or nothing used in them.
    ///
    /// - Parameters:
    ///   - length: that of the window, in seconds.
    ///   - start: of the window that is under way, in seconds since 1970.
    package init?(history: WindowHistory, length: Int, before start: Int, zone: ClockZone) {
        let isWeekly = length >= 6 * 86_400
        // Six hours are too long to tell when in a shorter window something was used.
        let points = length < 86_400 ? history.finePoints : history.timeline
        let spans = Self.completeWindows(
            points, length: length, before: start, limit: isWeekly ? Self.weekWindowLimit : Self.dayWindowLimit)
        guard spans.count >= Self.leastWindowCount, let first = spans.first else { return nil }
        var clock = LocalHours(zone: zone, count: isWeekly ? 168 : 24)
        var used = [Double](repeating: 0, count: clock.count)
        var covered = used
        for span in spans {
            for piece in clock.pieces(from: span.lowerBound, to: span.upperBound) {
                covered[piece.hour] += Double(piece.seconds)
            }
        }
        let rises = Self.rises(points)
        let hoursOfDay = Self.hoursOfDay(rises, clock: &clock)
        for rise in rises where rise.end > first.lowerBound {
            guard let span = spans.first(where: { $0.contains(rise.end - 1) }) else { continue }
            let start = max(rise.start, span.lowerBound)
            let pieces = clock.pieces(from: start, to: rise.end)
            let weights = pieces.map { Double($0.seconds) * (rise.isCoarse ? hoursOfDay[$0.hour % 24] : 1) }
            let sum = weights.reduce(0, +)
            let total = Double(rise.end - start)
            for (piece, weight) in zip(pieces, weights) {
                let part = sum > 0 ? weight / sum : Double(piece.seconds) / total
                used[piece.hour] += rise.percent * part
            }
        }
        let sum = used.reduce(0, +)
        guard sum > 0 else { return nil }
        let average = sum / covered.reduce(0, +)
        rates = zip(used, covered).map { used, covered in
            let own = covered > 0 ? used / covered : average
            return own * (1 - Self.evenPart) + average * Self.evenPart
        }
        windowCount = spans.count
        self.clock = clock
    }

    /// The windows that lie wholly after the first observation, in the order of time.
    private static func completeWindows(
        _ points: [HistoryPoint], length: Int, before start: Int, limit: Int
    ) -> [Range<Int>] {
        guard let first = points.first else { return [] }
        var spans: [Range<Int>] = []
        for point in points where point.slot.levelBeforeReset != nil {
            let end = point.start + point.seconds / 2
            let begin = end - length
            // Devices may mark one reset in two slots.
            if let last = spans.last, begin < last.upperBound - length / 2 { continue }
            // The window may begin in the slot of the first observation, and the reset anywhere in its own.
            guard begin >= first.start - point.seconds, end <= start + point.seconds else { continue }
            spans.append(begin..<max(end, point.end))
        }
        return spans.suffix(limit)
    }

    /// Percent that were used in a time.
    private struct Rise {
        var start: Int
        var end: Int
        var percent: Double
        /// Whether it is known to six hours only.
        var isCoarse: Bool
    }

    /// What each observation adds to the one before it, since that one.
    private static func rises(_ points: [HistoryPoint]) -> [Rise] {
        var rises: [Rise] = []
        var last = PercentLevel.zero
        var since: Int?
        for point in points {
            func add(_ level: PercentLevel) {
                // The first of all has risen at an unknown time.
                if level > last, let since {
                    rises.append(
                        Rise(
                            start: min(since, point.start), end: point.end, percent: level.percent - last.percent,
                            isCoarse: point.seconds > 3_600))
                }
                last = level
                since = point.end
            }
            if let before = point.slot.levelBeforeReset {
                add(max(before, last))
                last = .zero
                since = point.start
            }
            if let level = point.slot.level { add(level) }
        }
        return rises
    }

    /// How much is used in each hour of the day, as far as that is known to the quarter of an hour.
    private static func hoursOfDay(_ rises: [Rise], clock: inout LocalHours) -> [Double] {
        var hours = [Double](repeating: 0, count: 24)
        for rise in rises where !rise.isCoarse {
            for piece in clock.pieces(from: rise.start, to: rise.end) {
                hours[piece.hour % 24] +=
                    rise.percent * Double(piece.seconds) / Double(rise.end - rise.start)
            }
        }
        return hours
    }

    /// When the limit is reached if the user goes on as before: in the hours of the profile, and as much more or less
    /// than it says as since the window's start. That is judged with ten percent as the profile says beside it, so that
    /// the first minutes decide nothing.
    ///
    /// - Returns: seconds since 1970, to the quarter of an hour; nil if that is not before the reset.
    package func limitReached(usedPercent: Double, at time: Int, windowStart: Int, reset: Int) -> Int? {
        let weight = 10.0
        var clock = clock
        let expected = clock.pieces(from: windowStart, to: time).reduce(0) { $0 + rates[$1.hour] * Double($1.seconds) }
        let intensity = (usedPercent + weight) / (expected + weight)
        var left = 100 - usedPercent
        var position = time
        for piece in clock.pieces(from: time, to: reset) {
            let rate = rates[piece.hour] * intensity
            let percent = rate * Double(piece.seconds)
            if percent >= left {
                let end = Double(position) + left / rate
                let rounded = Int((end / 900).rounded()) * 900
                return rounded < reset ? max(rounded, time) : nil
            }
            left -= percent
            position += piece.seconds
        }
        return nil
    }
}

/// The hours of a user's week or day.
private struct LocalHours {
    struct Piece {
        var hour: Int
        var seconds: Int
    }

    let zone: ClockZone
    /// 24, or 168 from Monday on.
    let count: Int
    /// The offset of the quarter of a day that was asked for last: asking the system takes longer than all else here.
    var known: (quarter: Int, offset: Int)?

    /// A time, cut at the hours of UTC with the hour of the zone in which each piece begins.
    mutating func pieces(from start: Int, to end: Int) -> [Piece] {
        var pieces: [Piece] = []
        var position = max(start, 0)
        while position < end {
            let local = position + offset(at: position)
            let next = min(end, position + 3_600 - local % 3_600)
            // The first of January 1970 was a Thursday.
            let hour = (local / 3_600 + 3 * 24) % count
            pieces.append(Piece(hour: hour, seconds: next - position))
            position = next
        }
        return pieces
    }

    private mutating func offset(at seconds: Int) -> Int {
        let quarter = seconds / 21_600
        if let known, known.quarter == quarter { return known.offset }
        let offset = zone.secondsFromGMT(at: Date(unixSeconds: seconds))
        known = (quarter, offset)
        return offset
    }
}
