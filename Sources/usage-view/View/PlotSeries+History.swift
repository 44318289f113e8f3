import Essentials
import UsageState

extension PlotSeries {
    /// The last days of every window.
    static func all(of history: UsageHistory, since start: Date) -> [PlotSeries] {
        history.windows.sorted { $0.key < $1.key }.map { identity, history in
            PlotSeries(identity, history.timeline, since: start)
        }.filter { !$0.samples.isEmpty }
    }

    private init(_ identity: WindowIdentity, _ timeline: [HistoryPoint], since start: Date) {
        self.init(
            providerID: identity.providerID, account: identity.account, label: identity.label,
            samples: [])
        // Counted in the whole timeline: a stay at the limit may have begun earlier.
        let counts = timeline.reachedCounts
        for (index, point) in timeline.enumerated() where point.endDate > start {
            if point.slot.levelBeforeReset != nil { resets.append(point.date) }
            reached += Array(repeating: point.date, count: counts[index])
            samples.append(
                Sample(date: point.date, percent: (point.slot.level ?? .zero).percent))
            if index + 1 < timeline.count, timeline[index + 1].start > point.end {
                samples.append(Sample(date: point.endDate, percent: nil))
            }
        }
    }
}
