package import ClockZones
package import Essentials

/// What rules take out of reports, and what they cannot take out. Pure.
package struct ForgetPreview {
    /// What is known to be of days that change.
    package private(set) var days: Set<CalendarDay> = []
    package private(set) var tokens = 0
    /// In US dollars.
    package private(set) var cost = 0.0
    /// The tokens that stay in totals of months that do not say of which project or day they are, by what has a row.
    package private(set) var rest: [(totals: String, tokens: Int)] = []

    /// - Parameters:
    ///   - pages: with the rules that are there.
    ///   - zone: whose days are meant.
    package init(_ rules: [ForgetRule], of pages: LedgerPages, zone: ClockZone) {
        var later = pages
        later.rules += rules
        let groupings: [(String, TokenReport.Grouping)] = [("day", .day), ("project", .project), ("model", .model)]
        var removed: [(name: String, tokens: Int, cost: Double)] = []
        for (name, grouping) in groupings {
            var clock = ReportClock(zone: zone)
            let (before, after) = (Self.sums(pages, grouping, &clock), Self.sums(later, grouping, &clock))
            if grouping == .day { days = Set(before.keys.filter { before[$0] != after[$0] }) }
            func total(_ sums: [CalendarDay: UsageAmount]) -> UsageAmount {
                sums.values.reduce(into: .init()) { $0 += $1 }
            }
            let (all, left) = (total(before), total(after))
            removed.append(
                (
                    name, all.counts.total &- left.counts.total,
                    all.cost.dollars(.auto) - left.cost.dollars(.auto)
                ))
        }
        tokens = removed.map(\.tokens).max() ?? 0
        cost = removed.map(\.cost).max() ?? 0
        rest = removed.filter { $0.tokens < tokens }.map { ($0.name, tokens - $0.tokens) }
    }

    private static func sums(
        _ pages: LedgerPages, _ grouping: TokenReport.Grouping, _ clock: inout ReportClock
    ) -> [CalendarDay: UsageAmount] {
        var ledger = LedgerUsage(pages, zone: clock.zone)
        let usage = ledger.usage(for: grouping, .init(device: { $0 }, project: { $0 }))
        var sums: [CalendarDay: UsageAmount] = [:]
        for bucket in usage.buckets { sums[clock.day(of: bucket.first), default: UsageAmount()].add(bucket) }
        return sums
    }
}

extension LedgerPages {
    /// The pages of devices that change if what `rules` cover is taken out of them.
    ///
    /// - Parameter zone: of the days of sessions.
    package func changes(forgettingOf devices: Set<String>, zone: ClockZone) -> [String: Data?] {
        var clock = ReportClock(zone: zone)
        var changes: [String: Data?] = [:]
        for (key, page) in pages.merging(imports, uniquingKeysWith: { $1 }) where devices.contains(key.device) {
            var rest = page
            if key.isImport {
                rest.forgetImports(rules, of: key.device)
            } else {
                rest.forget(rules, of: key.device, &clock)
            }
            if rest != page { changes[key.name] = .some(key.isImport && rest.cells.isEmpty ? nil : Data(rest.bytes)) }
        }
        return changes
    }

    /// The devices that have pages.
    package var devices: Set<String> { Set(pages.keys.map(\.device)).union(imports.keys.map(\.device)) }

    /// What stands for projects in the pages.
    package var projectKeys: Set<String> {
        var keys: Set<String> = []
        for page in [pages.values, imports.values].joined() {
            for entry in page.sessionDays { if let project = entry.project { keys.insert(project) } }
            for cell in [page.cells, page.projects].joined() { if let project = cell.project { keys.insert(project) } }
        }
        return keys
    }
}
