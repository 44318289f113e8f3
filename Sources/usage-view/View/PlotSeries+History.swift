import Essentials
import UsageState

extension PlotSeries {
    /// The last days of every window.
    static func all(of history: UsageHistory, since start: Date) -> [PlotSeries] {
        history.windows.sorted { $0.key < $1.key }.map { identity, history in
            PlotSeries(identity, history.timeline.filter { $0.endDate > start })
        }.filter { !$0.samples.isEmpty }
    }

    private init(_ identity: WindowIdentity, _ points: [HistoryPoint]) {
        self.init(
            providerID: identity.providerID, account: identity.account, label: identity.label,
            samples: [])
        var atLimit = false
        for (index, point) in points.enumerated() {
            if point.slot.levelBeforeReset != nil {
                resets.append(point.date)
                atLimit = false
            }
            if point.slot.isReached, !atLimit { reached.append(point.date) }
            atLimit = point.slot.isReached
            samples.append(
                Sample(date: point.date, percent: (point.slot.level ?? .zero).percent))
            if index + 1 < points.count, points[index + 1].start > point.end {
                samples.append(Sample(date: point.endDate, percent: nil))
            }
        }
    }
}
