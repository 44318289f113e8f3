package import Essentials

/// One slot with its time.
package struct HistoryPoint: Sendable, Equatable {
    /// When the slot begins, in seconds since 1970.
    package let start: Int
    package let seconds: Int
    package let slot: HistorySlot

    package var end: Int { start + seconds }
    package var date: Date { Date(unixSeconds: start) }
    package var endDate: Date { Date(unixSeconds: end) }
}

extension WindowHistory {
    /// The slots that are no gaps in the order of time: quarters of an hour as far back as they are kept, before that
    /// six hours.
    package var timeline: [HistoryPoint] {
        let finePoints = Self.points(of: fine)
        guard let first = finePoints.first?.start else { return Self.points(of: coarse) }
        let length = coarse.slotSeconds
        guard coarse.first < first / length else { return finePoints }
        // A coarse slot of which a part is kept finely counts as a whole, or marks in its other part would be lost.
        let border = (first + length - 1) / length * length
        return Self.points(of: coarse).filter { $0.end <= border } + finePoints.filter { $0.start >= border }
    }

    /// Quarters of an hour.
    package var finePoints: [HistoryPoint] { Self.points(of: fine) }

    private static func points(of track: SlotTrack) -> [HistoryPoint] {
        track.entries.map {
            HistoryPoint(start: $0.number * track.slotSeconds, seconds: track.slotSeconds, slot: $0.slot)
        }
    }
}

/// What can be said of a window's past in a few numbers.
package struct HistorySummary: Sendable, Equatable {
    /// Exact to half a percent. Nil without an observation in the time that was asked for.
    package private(set) var least: PercentLevel?
    package private(set) var greatest: PercentLevel?
    /// How often the limit was reached.
    package private(set) var reachedIn7Days = 0
    package private(set) var reachedIn90Days = 0
    /// Resets of windows that had been used, in 90 days.
    package private(set) var resetCount = 0
    /// The average percentage that was used of those; nil without any.
    package private(set) var averageAtReset: Double?

    /// - Parameters:
    ///   - points: a timeline.
    ///   - since: from when on the least and the greatest count, in seconds since 1970.
    package init(_ points: [HistoryPoint], since: Int, now: Int) {
        var sumAtReset = 0.0
        for (point, count) in zip(points, points.reachedCounts) {
            let slot = point.slot
            if point.end > since {
                for level in [slot.levelBeforeReset, slot.level].compactMap({ $0 }) {
                    least = min(least ?? level, level)
                    greatest = max(greatest ?? level, level)
                }
            }
            if let before = slot.levelBeforeReset {
                resetCount += 1
                sumAtReset += before.percent
            }
            reachedIn90Days += count
            if point.end > now - 7 * 86_400 { reachedIn7Days += count }
        }
        averageAtReset = resetCount > 0 ? sumAtReset / Double(resetCount) : nil
    }
}

extension [HistoryPoint] {
    /// How often the limit was reached at each point of a whole timeline: once for each stay at it.
    package var reachedCounts: [Int] {
        var atLimit = false
        return map { point in
            let slot = point.slot
            var count = 0
            if let before = slot.levelBeforeReset {
                if before.isReached, !atLimit { count += 1 }
                atLimit = false
                // Its mark may be of before the reset.
                if slot.isReached, !before.isReached { count += 1 }
                if slot.level?.isReached == true {
                    if before.isReached { count += 1 }
                    atLimit = true
                }
            } else {
                if slot.isReached, !atLimit { count += 1 }
                atLimit =
                    slot.isReached && slot.level.map(\.isReached) ?? true
                    || atLimit && slot.level == nil
            }
            return count
        }
    }
}
