import ClockZones
package import Essentials
package import UsageState

extension UsageYear {
    /// - Parameters:
    ///   - pages: of all machines.
    ///   - date: now.
    package init(_ pages: LedgerPages, at date: Date) {
        var ledger = LedgerUsage(pages, zone: .local)
        let usage = ledger.usage(for: .day, .init(device: { $0 }, project: { $0 }))
        var query = ReportQuery(zone: .local)
        query.since = CalendarDay(number: ClockZone.local.day(of: date) - Self.dayCount)
        var days: [Int: (dollars: Double, tokens: Int)] = [:]
        for row in TokenReport(usage, by: .day, query: query).rows {
            guard let day = CalendarDay(row.period) else { continue }
            days[day.number] = (row.total.cost.dollars(.auto), row.total.counts.total)
        }
        self.init(days: days, at: date)
    }
}
