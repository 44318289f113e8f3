import ClockZones
import Essentials

/// How much of a month is stated: the older, the less. In days after the end of the month.
package struct LedgerAges: Sendable {
    /// From when on it has less than hours, less than sessions, and less than days by project and model.
    var days = 35
    var projects = 92
    var months = 400
    /// From when on it is closed, and has no projects, or no models either.
    var closed = Int.max
    var withoutProjects = Int.max
    var withoutModels = Int.max

    /// The usual ones, and those for a store that is nearly full, each with less of the past than the one before: first
    /// sessions go, then projects, then models. Totals of days stay.
    package static let all = [
        LedgerAges(), LedgerAges(projects: 40, months: 120), LedgerAges(projects: 35, months: 35),
        LedgerAges(projects: 35, months: 35, closed: 400),
        LedgerAges(projects: 35, months: 35, closed: 400, withoutProjects: 1_000),
        LedgerAges(projects: 35, months: 35, closed: 400, withoutProjects: 400),
        LedgerAges(days: 0, projects: 0, months: 0, closed: 120, withoutProjects: 120),
        LedgerAges(days: 0, projects: 0, months: 0, closed: 35, withoutProjects: 35, withoutModels: 35),
    ]

    /// - Parameters:
    ///   - month: a day of it.
    ///   - today: both since 1970.
    func detail(ofMonth month: Int, today: Int) -> LedgerPage.Detail {
        let age = age(ofMonth: month, today: today)
        if age >= closed { return .closed }
        if age >= months { return .months }
        if age >= projects { return .projects }
        return age >= days ? .days : .hours
    }

    func age(ofMonth month: Int, today: Int) -> Int { today - CalendarDay(number: month).endOfMonth.number }
}

extension LedgerPage {
    /// Moves sessions into cells.
    ///
    /// A session that another machine states with other requests stays as it is, on both machines. One that it states
    /// with the same requests is left to it: the last machine that states it moves it.
    ///
    /// - Parameter others: what other machines state of a session's day.
    mutating func foldSessions(others: (SessionDay) -> [SessionDay], _ clock: inout ReportClock) {
        let all = sessionDays
        sessionDays = []
        for entry in all {
            let others = others(entry)
            guard others.isEmpty else {
                let isSame = others.contains { $0.key == entry.key && $0.fingerprint == entry.fingerprint }
                if !isSame { sessionDays.append(entry.folded(&clock)) }
                continue
            }
            cells += entry.folded(&clock).cells
            claims.insert(Self.claim(entry.key))
        }
        cells = cells.summed()
    }

    /// Moves cells of days into cells of months and of days alone, and claims of days into those of sessions.
    ///
    /// - Parameter shared: the `sessionBits` of which some day is stated by itself.
    mutating func foldDays(shared: Set<UInt64>) {
        days = cells.map { $0.summary(isOfMonth: false, hasProject: false, hasModel: false) }.summed()
        projects = cells.map { $0.summary(isOfMonth: true, hasProject: true, hasModel: false) }.summed()
        cells = cells.map { $0.summary(isOfMonth: true, hasProject: false, hasModel: true) }.summed()
        detail = .months
        claims = Set(claims.map { shared.contains(Self.sessionBits(ofClaim: $0)) ? $0 : Self.sessionClaim(of: $0) })
    }

    /// Forgets whose sessions are in the cells, so that nothing can be added any more.
    mutating func close() {
        detail = .closed
        claims = []
    }

    mutating func removeProjects() { projects = [] }

    mutating func removeModels() {
        cells = cells.map { $0.summary(isOfMonth: true, hasProject: false, hasModel: false) }.summed()
    }

    /// Adds the cells of a page of the same detail.
    mutating func add(_ other: LedgerPage) {
        cells = (cells + other.cells).summed()
        projects = (projects + other.projects).summed()
        days = (days + other.days).summed()
        claims.formUnion(other.claims)
    }
}

extension SessionDay {
    /// What a folded one adds to cells.
    fileprivate var cells: [LedgerCell] {
        lines.map { line in
            var cell = LedgerCell(day: key.day + line.slot, source: source, project: project, line: line)
            cell.line.slot = 0
            return cell
        }
    }
}

extension LedgerCell {
    fileprivate func summary(isOfMonth: Bool, hasProject: Bool, hasModel: Bool) -> LedgerCell {
        var cell = self
        if isOfMonth { cell.day = CalendarDay(number: day).startOfMonth.number }
        if !hasProject { cell.project = nil }
        if !hasModel { (cell.line.model, cell.line.tier, cell.line.surcharge) = (nil, .standard, Surcharge()) }
        return cell
    }
}

extension [LedgerCell] {
    /// Those that differ in amounts alone in one, in an order that follows from what they are.
    func summed() -> [LedgerCell] {
        var sums: [LedgerCell: UsageAmount] = [:]
        for var cell in self {
            let amount = cell.line.amount
            cell.line.amount = UsageAmount()
            sums[cell, default: UsageAmount()] += amount
        }
        func order(_ cell: LedgerCell) -> (Int, String, String, String, Int) {
            (
                cell.day, cell.source, cell.project ?? "", cell.line.model ?? "",
                Int(cell.line.kind)
            )
        }
        return sums.map { cell, amount in
            var cell = cell
            cell.line.amount = amount
            return cell
        }.sorted { order($0) < order($1) }
    }
}
