import ClockZones
import Essentials

/// How much of a month is stated: the older, the less.
struct LedgerAges: Sendable {
    /// Days after the end of a month from which it has less than hours, than sessions, and than days by project.
    var days = 35
    var projects = 92
    var months = 400

    /// - Parameters:
    ///   - month: a day of it.
    ///   - today: both since 1970.
    func detail(ofMonth month: Int, today: Int) -> LedgerPage.Detail {
        let age = today - CalendarDay(number: month).endOfMonth.number
        if age >= months { return .months }
        if age >= projects { return .projects }
        return age >= days ? .days : .hours
    }
}

extension LedgerPage {
    /// Moves sessions into cells.
    ///
    /// What another machine has of a session with other requests stays as it is, on both machines; and what it has with the
    /// same ones, it tells: the last one to have them moves them.
    ///
    /// - Parameter others: what other machines state of a session's day.
    mutating func foldSessions(others: (SessionDay.Key) -> [SessionDay], _ clock: inout ReportClock) {
        let all = sessionDays
        sessionDays = []
        for entry in all {
            let others = others(entry.key)
            guard others.isEmpty else {
                let isSame = others.contains { $0.fingerprint == entry.fingerprint }
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
        days = cells.map(\.ofDayAlone).summed()
        cells = cells.map(\.ofMonth).summed()
        detail = .months
        claims = Set(claims.map { shared.contains(Self.sessionBits(ofClaim: $0)) ? $0 : Self.sessionClaim(of: $0) })
    }

    /// Adds the cells of a page of the same detail.
    mutating func add(_ other: LedgerPage) {
        cells = (cells + other.cells).summed()
        days = (days + other.days).summed()
        claims.formUnion(other.claims)
    }
}

extension SessionDay {
    /// Of a folded one.
    fileprivate var cells: [LedgerCell] {
        lines.map { line in
            var cell = LedgerCell(day: key.day + line.slot, source: source, project: project, line: line)
            cell.line.slot = 0
            return cell
        }
    }
}

extension LedgerCell {
    fileprivate var ofDayAlone: LedgerCell {
        var cell = LedgerCell(day: day, source: source, project: nil, line: LedgerLine(slot: 0))
        cell.line.isCoarse = line.isCoarse
        cell.line.amount = line.amount
        return cell
    }

    fileprivate var ofMonth: LedgerCell {
        var cell = self
        cell.day = CalendarDay(number: day).startOfMonth.number
        return cell
    }
}

extension [LedgerCell] {
    /// Those that differ in amounts alone in one, in an order that follows from what they are.
    fileprivate func summed() -> [LedgerCell] {
        var sums: [LedgerCell: UsageAmount] = [:]
        for var cell in self {
            let amount = cell.line.amount
            cell.line.amount = UsageAmount()
            sums[cell, default: UsageAmount()] += amount
        }
        func order(_ cell: LedgerCell) -> (Int, String, String, String, Int) {
            (
                cell.day, cell.source, cell.project ?? "", cell.line.model ?? "",
                Int(cell.line.tier.rawValue) << 1 | (cell.line.isCoarse ? 1 : 0)
            )
        }
        return sums.map { cell, amount in
            var cell = cell
            cell.line.amount = amount
            return cell
        }.sorted { order($0) < order($1) }
    }
}
