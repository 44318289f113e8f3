package import Essentials

/// The percentages of one window over time, to be drawn. In order of time.
package struct PlotSeries: Sendable, Equatable {
    package struct Sample: Sendable, Equatable {
        package var date: Date
        /// Nil for a gap: nothing was observed from here to the next sample.
        package var percent: Double?
    }

    package var providerID: String
    package var account: String?
    /// The label of the window.
    package var label: String
    package var samples: [Sample]
    /// When the window was reset.
    package var resets: [Date] = []
    /// When the limit was reached.
    package var reached: [Date] = []

    package var last: Double? { samples.last { $0.percent != nil }?.percent }
    package var peak: Double? { samples.compactMap(\.percent).max() }

    /// The last days of every window.
    package static func all(of history: UsageHistory, since start: Date) -> [PlotSeries] {
        history.windows.sorted { $0.key < $1.key }.map { identity, history in
            PlotSeries(identity, history.timeline, since: start)
        }.filter { !$0.samples.isEmpty }
    }
}

extension PlotSeries {
    private init(_ identity: WindowIdentity, _ timeline: [HistoryPoint], since start: Date) {
        self.init(providerID: identity.providerID, account: identity.account, label: identity.label, samples: [])
        // Counted in the whole timeline: a stay at the limit may have begun earlier.
        let counts = timeline.reachedCounts
        for (index, point) in timeline.enumerated() where point.endDate > start {
            if point.slot.levelBeforeReset != nil { resets.append(point.date) }
            reached += Array(repeating: point.date, count: counts[index])
            samples.append(Sample(date: point.date, percent: (point.slot.level ?? .zero).percent))
            if index + 1 < timeline.count, timeline[index + 1].start > point.end {
                samples.append(Sample(date: point.endDate, percent: nil))
            }
        }
    }
}
