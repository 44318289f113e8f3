/// Takes out of pages what rules cover.
///
/// What stays is that a tool was used on that day, so that no import counts in its place, and which sessions these
/// were, so that no machine adds them again. Sums of months go only where a rule covers the whole month: they do not
/// say which part of them is of a project or day.
extension LedgerPage {
    mutating func forget(_ rules: [ForgetRule], of device: String, _ clock: inout ReportClock) {
        guard !rules.isEmpty else { return }
        for index in sessionDays.indices { sessionDays[index].forget(rules, of: device, &clock) }
        guard detail >= .months else {
            cells = cells.forgetting(rules, of: device)
            return
        }
        days = days.forgetting(rules, of: device)
        let month = start...CalendarDay(number: start).endOfMonth.number
        func isCovered(_ cell: LedgerCell) -> Bool {
            rules.contains { $0.covers(month, device: device, project: cell.project) }
        }
        cells.removeAll(where: isCovered)
        projects.removeAll(where: isCovered)
    }

    /// As `forget`, of what a machine has imported, of which nothing stays.
    mutating func forgetImports(_ rules: [ForgetRule], of device: String) {
        cells.removeAll { $0.isCovered(by: rules, of: device) }
    }
}

extension SessionDay {
    /// - Parameter clock: of the time zone of days.
    mutating func forget(_ rules: [ForgetRule], of device: String, _ clock: inout ReportClock) {
        let rules = rules.filter { $0.isAbout(device: device, project: project) }
        guard !rules.isEmpty else { return }
        func coveredDay(_ line: LedgerLine) -> Int? {
            let hour = Int64((key.day * 24 + line.slot) * 3_600_000)
            let day = isFolded ? key.day + line.slot : clock.day(of: hour).number
            return rules.contains { $0.covers(day...day, device: device, project: project) } ? day : nil
        }
        var kept: [LedgerLine] = []
        var empty: [Int: LedgerLine] = [:]
        for line in lines {
            if let day = coveredDay(line) {
                empty[day] = empty[day] ?? LedgerLine(slot: line.slot)
            } else {
                kept.append(line)
            }
        }
        guard !empty.isEmpty else { return }
        requests = requests.filter { coveredDay($0.line) == nil }
        lines = (kept + empty.values).sorted()
        if kept.isEmpty { project = nil }
    }

    /// Whether a rule has taken out all of it.
    var isForgotten: Bool { lines.allSatisfy { $0.amount == UsageAmount() } }
}

extension LedgerCell {
    fileprivate func isCovered(by rules: [ForgetRule], of device: String) -> Bool {
        rules.contains { $0.covers(day...day, device: device, project: project) }
    }
}

extension [LedgerCell] {
    /// Cells of days, of which those that are covered become empty ones without project and model.
    fileprivate func forgetting(_ rules: [ForgetRule], of device: String) -> [LedgerCell] {
        guard contains(where: { $0.isCovered(by: rules, of: device) }) else { return self }
        return map { cell in
            cell.isCovered(by: rules, of: device)
                ? LedgerCell(day: cell.day, source: cell.source, project: nil, line: LedgerLine(slot: 0)) : cell
        }.summed()
    }
}
