import ClockZones
package import Essentials
import LocalFiles
package import SnapshotModels
package import UsageState

/// What is spent of a budget in the present day, week or month, on all machines.
package struct BudgetState: Sendable {
    package let budget: Budget
    /// In the unit of the budget.
    package private(set) var spent = 0.0
    /// From the first second of the period to that of the next one.
    package let span: Range<Date>
    /// Days of the period on which something was used.
    package private(set) var usedDayCount = 0
    /// Requests that are not in `spent`, because their models have no known price.
    package private(set) var unpricedCount = 0
    private let now: Date

    /// The days of the period that a time is in.
    static func days(of period: Budget.Period, containing day: Int) -> ClosedRange<Int> {
        let day = CalendarDay(number: day)
        switch period {
        case .day: return day.number...day.number
        case .week:
            let first = day.onOrBefore(.monday).number
            return first...first + 6
        case .month: return day.startOfMonth.number...day.endOfMonth.number
        }
    }

    /// The first day since 1970, in UTC, that a budget can be about at a time.
    package static func firstDay(at now: Date) -> Int {
        let day = ClockZone.gmt.day(of: now)
        return min(days(of: .month, containing: day - 1).lowerBound, day - 8) - 1
    }

    /// Those of budgets, in their order.
    ///
    /// - Parameters:
    ///   - pages: the ledger; only that of `firstDay` and later is needed.
    ///   - projects: as which others count.
    package static func states(
        of budgets: [Budget], _ pages: LedgerPages, _ projects: ProjectRules, now: Date
    ) -> [BudgetState] {
        let names = LedgerUsage.Names(
            device: { $0 }, project: { projects.target(of: LedgerProjects.hash(ofKey: $0)) })
        var usages: [String?: (zone: ClockZone, usage: TokenUsage)] = [:]
        return budgets.map { budget in
            let known =
                usages[budget.zone]
                ?? {
                    // One that is not known here.
                    let zone = budget.zone.flatMap { try? ClockZone.named($0) } ?? .local
                    var ledger = LedgerUsage(pages, zone: zone)
                    return (zone, ledger.usage(for: .day, isOfProject: true, names))
                }()
            usages[budget.zone] = known
            return BudgetState(budget, of: budget.project.map(projects.target), known.usage, zone: known.zone, now: now)
        }
    }

    /// - Parameter usage: by project, which a month states apart from days only when it is over for long.
    private init(_ budget: Budget, of project: String?, _ usage: TokenUsage, zone: ClockZone, now: Date) {
        self.budget = budget
        self.now = now
        let days = Self.days(of: budget.period, containing: zone.day(of: now))
        func start(ofDay day: Int) -> Date {
            Date(timeIntervalSince1970: Double(zone.seconds(ofClocksShowing: day * 86_400)))
        }
        span = start(ofDay: days.lowerBound)..<start(ofDay: days.upperBound + 1)
        var query = ReportQuery(zone: zone)
        query.since = CalendarDay(number: days.lowerBound)
        query.until = CalendarDay(number: days.upperBound)
        query.providers = Set([budget.provider].compactMap { $0 })
        query.project = project
        let report = TokenReport(usage, by: .day, query: query)
        usedDayCount = report.rows.count
        switch budget.unit {
        case .dollars:
            spent = max(0, report.total.cost.dollars(.auto))
            unpricedCount = max(0, report.total.cost.unpricedCount)
        case .tokens: spent = Double(max(0, report.total.counts.total))
        }
    }

    package var usedPercent: Double { spent / budget.amount * 100 }

    /// What is spent by the end of the period if the rest of it is as its days so far; nil before the second day of
    /// use, and after the end.
    package var forecast: Double? {
        let elapsed = now.timeIntervalSince(span.lowerBound)
        let length = span.upperBound.timeIntervalSince(span.lowerBound)
        guard budget.period > .day, usedDayCount > 1, elapsed > 0, elapsed < length else { return nil }
        return spent / elapsed * length
    }

    package var window: SyncRateWindow {
        SyncRateWindow(
            usedPercent: usedPercent, windowMinutes: Int(span.upperBound.timeIntervalSince(span.lowerBound) / 60),
            resetsAt: span.upperBound, label: budget.label)
    }

    /// "$31.20 of $50.00 this month, at this pace $48.10 by its end (12 days of use)".
    package var text: String {
        let period = budget.period == .day ? "today" : "this " + budget.period.rawValue
        let forecast = forecast.map {
            ", at this pace \(budget.unit.text($0)) by its end (\(usedDayCount) days of use)"
        }
        let unpriced =
            switch unpricedCount {
            case 0: ""
            case 1: "; 1 request has no known price"
            default: "; \(unpricedCount) requests have no known price"
            }
        return "\(budget.unit.text(spent, of: budget.amount)) \(period)" + (forecast ?? "") + unpriced
    }

    /// The cards of budgets, one for each title.
    ///
    /// - Parameter observedAt: when what other machines have used was known.
    package static func cards(_ states: [BudgetState], observedAt: Date) -> [ProviderUsageSnapshot] {
        Dictionary(grouping: states, by: \.budget.title).sorted { $0.key < $1.key }.map { title, states in
            let states = states.sorted { ($0.budget.period, $0.budget.label) < ($1.budget.period, $1.budget.label) }
            return ProviderUsageSnapshot(
                providerID: Budget.providerID, providerName: Budget.providerName, accountEmail: title,
                statusMessage: states.map(\.text).joined(separator: ". "), lastUpdated: observedAt,
                rateWindows: states.map(\.window))
        }
    }
}
