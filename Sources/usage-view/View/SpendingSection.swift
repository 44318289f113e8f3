import Essentials
import TerminalText
import UsageState

/// What all accounts cost, by day, tool, model and device.
enum SpendingSection {
    /// The entry of all accounts together.
    private static let all = "all"

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        guard let accounts = Spending(model.usage.providers, model.usage)?.accounts else {
            let empty = [
                StyledLine("No costs yet.", .bold),
                StyledLine("  They are counted from the tools' logs, from the next push on."),
            ]
            return Listing(items: [], empty: empty.flatMap { $0.wrapped(toCells: width) })
        }
        let shape = AmountTable.Shape(accounts, width: width)
        return Listing(
            items: accounts.rows.enumerated().map { index, row in
                ListItem(row.id ?? all, (index == 0 ? [shape.head] : []) + [shape.line(row)])
            })
    }

    static func detail(_ model: LiveModel, id: String, width: Int) -> [StyledLine] {
        let providers = model.usage.providers.filter { $0.cost != nil }
        var parts: [[StyledLine]]
        if providers.count > 1, let provider = providers.first(where: { $0.id == id }) {
            let tables = UsageDetails(provider, model.usage, series: []).tables
            parts =
                [[StyledLine(provider.title.truncated(toCells: width), .bold)]] + tables.map { $0.lines(width: width) }
        } else {
            guard let spending = Spending(model.usage.providers, model.usage) else { return [] }
            parts =
                [grid(spending, marks: model.usage.options.isUnicode ? marks : marksInASCII, width: width)]
                + spending.tables.map { $0.lines(width: width) }
        }
        parts.removeAll(where: \.isEmpty)
        return Array(parts.joined(separator: [StyledLine()]))
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let marks = ["·", "░", "▒", "▓", "█"]
    private static let marksInASCII = [".", "-", "+", "*", "#"]

    /// A column for each week and a line for each weekday. Columns are as wide as there is room for all weeks; if there
    /// is none, the last weeks are shown.
    private static func grid(_ spending: Spending, marks: [String], width: Int) -> [StyledLine] {
        guard let first = spending.days.first, let today = spending.days.last else { return [] }
        let monday = first.number - first.weekday
        let weeks = (today.number - monday) / 7 + 1
        let (lead, room) = (6, width - 6)
        let cells = max(1, min(3, room / weeks))
        let mondays = (max(0, weeks - max(1, room / cells))..<weeks).map { monday + 7 * $0 }
        let gap = String(repeating: " ", count: cells / 3)
        var lines = weekdays.map { StyledLine(("  " + $0).padded(toCells: lead - gap.count), .dim) }
        for monday in mondays {
            for weekday in weekdays.indices {
                let index = monday + weekday - first.number
                let mark = spending.days.indices.contains(index) ? marks[spending.days[index].level] : " "
                lines[weekday].append(gap + String(repeating: mark, count: cells - gap.count))
            }
        }
        let texts = ["today, " + today.text, spending.year?.total, spending.year?.record].compactMap { $0 }
        return [StyledLine("By day", .bold), months(mondays, cells: cells, lead: lead, width: width)]
            + lines.map { $0.withoutTrailingSpaces.truncated(toCells: width) }
            + texts.flatMap { $0.wrapped(toCells: width - 2) }.map { StyledLine("  " + $0, .dim) }
    }

    /// The names of months above the first week that begins in each, where there is room for them.
    private static func months(_ mondays: [Int], cells: Int, lead: Int, width: Int) -> StyledLine {
        let names = mondays.map(TimeFormatter.month(ofDay:))
        let starts = names.indices.filter { $0 == 0 || names[$0] != names[$0 - 1] }
        var line = StyledLine()
        for (start, next) in zip(starts, starts.dropFirst().map { lead + $0 * cells } + [width + 1]) {
            let column = lead + start * cells
            guard column + names[start].count < next else { continue }
            line.pad(toCells: column)
            line.append(names[start], .dim)
        }
        return line
    }
}
