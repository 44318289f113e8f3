package import ClockZones
package import Essentials

/// What one machine writes into the store `usage-ledger` for what it imports. Pure.
package struct LedgerImportPlan {
    /// Days of tools, and what was used on them.
    package struct Sum: Sendable, Equatable {
        package private(set) var days: Set<LedgerDay> = []
        package private(set) var amount = UsageAmount()

        mutating func add(_ day: LedgerDay, _ cells: [LedgerCell]) {
            days.insert(day)
            for cell in cells { amount += cell.line.amount }
        }
    }

    /// What is added.
    package private(set) var added = Sum()
    /// What logs cover, which count instead.
    package private(set) var covered = Sum()
    /// What is left out as a `ForgetRule` covers it.
    package private(set) var forgotten = Sum()
    /// What is left out as no less of it was imported before.
    package private(set) var known = Sum()
    /// What is written, by key; nil for what is removed.
    package private(set) var changes: [String: Data?] = [:]

    private let device: String
    private let stored: [LedgerKey: LedgerPage]

    /// - Parameters:
    ///   - device: whose pages are written.
    ///   - zone: whose days are compared with logs.
    ///   - project: what stands for a project, by its name in a report; nil for none.
    package init(
        _ imports: [LedgerImport], device: String, stored: LedgerPages, zone: ClockZone, project: (String) -> String?
    ) {
        self.init(device: device, stored: stored)
        var union = LedgerUnion(stored.byDevice, zone: zone)
        let logged = union.loggedDays()
        var all = LedgerImports(stored.importsByDevice)
        var entries: [LedgerDay: LedgerImports.Entry] = [:]
        for imported in imports {
            for entry in Self.entries(imported, device, project) {
                let entry = withoutForgotten(entry, stored.rules)
                if entry.cells.isEmpty {
                    continue
                } else if logged.contains(entry.day) {
                    covered.add(entry.day, entry.cells)
                } else if let other = all.best[entry.day], entry.exceeds(other) != true {
                    if entries[entry.day] == nil { known.add(entry.day, entry.cells) }
                } else {
                    all.add(entry)
                    entries[entry.day] = entry
                }
            }
        }
        for entry in entries.values { added.add(entry.day, entry.cells) }
        write(entries)
    }

    /// Removes what a machine has imported.
    package init(removing device: String, stored: LedgerPages) {
        self.init(device: device, stored: stored)
        for (key, page) in self.stored {
            for cell in page.cells { added.add(LedgerDay(day: cell.day, source: cell.source), [cell]) }
            changes[key.name] = .some(nil)
        }
        for key in stored.failures.keys where key.isImport && key.device == device { changes[key.name] = .some(nil) }
    }

    private init(device: String, stored: LedgerPages) {
        self.device = device
        self.stored = stored.imports.filter { $0.key.device == device }
    }

    private mutating func withoutForgotten(
        _ entry: LedgerImports.Entry, _ rules: [ForgetRule]
    ) -> LedgerImports.Entry {
        var rest = entry
        rest.cells.removeAll { cell in
            rules.contains { $0.covers(cell.day...cell.day, device: device, project: cell.project) }
        }
        if rest != entry { forgotten.add(entry.day, entry.cells.filter { !rest.cells.contains($0) }) }
        return rest
    }

    private static func entries(
        _ imported: LedgerImport, _ device: String, _ project: (String) -> String?
    ) -> [LedgerImports.Entry] {
        var entries: [LedgerDay: LedgerImports.Entry] = [:]
        var cells: [LedgerCell] = []
        for (key, amount) in imported.amounts {
            var line = LedgerLine(slot: 0, model: key.model)
            line.amount = amount
            cells.append(
                LedgerCell(day: key.day, source: key.source, project: key.project.flatMap(project), line: line))
        }
        // Several names may be of one project.
        for cell in cells.summed() {
            let day = LedgerDay(day: cell.day, source: cell.source)
            entries[day, default: .init(day: day, device: device)].cells.append(cell)
        }
        return entries.values.sorted { $0.day < $1.day }
    }

    private mutating func write(_ entries: [LedgerDay: LedgerImports.Entry]) {
        let months = Dictionary(grouping: entries.values) { CalendarDay(number: $0.day.day).startOfMonth.number }
        for (month, entries) in months {
            let key = LedgerKey(device: device, day: month, isImport: true)
            var page = stored[key] ?? LedgerPage(start: month, .projects)
            let days = Set(entries.map(\.day))
            page.cells.removeAll { days.contains(LedgerDay(day: $0.day, source: $0.source)) }
            page.cells = (page.cells + entries.flatMap(\.cells)).summed()
            if page != stored[key] { changes[key.name] = .some(Data(page.bytes)) }
        }
    }
}
