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
            guard let spending = Spending(providers, model.usage) else { return [] }
            parts = [grid(spending.days, width: width)] + spending.tables.map { $0.lines(width: width) }
        }
        parts.removeAll(where: \.isEmpty)
        return Array(parts.joined(separator: [StyledLine()]))
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let marks = ["·", "░", "▒", "▓", "█"]

    /// A column for each week and a line for each weekday, as many of the last weeks as there is room for.
    private static func grid(_ days: [Spending.Day], width: Int) -> [StyledLine] {
        guard let first = days.first, let today = days.last else { return [] }
        let monday = first.number - first.weekday
        let weeks = (today.number - monday) / 7 + 1
        let shown = max(1, min(weeks, (width - 6) / 3))
        var lines = weekdays.map { StyledLine("  " + $0, .dim) }
        for week in weeks - shown..<weeks {
            for weekday in weekdays.indices {
                let index = monday + 7 * week + weekday - first.number
                let mark = days.indices.contains(index) ? marks[days[index].level] : " "
                lines[weekday].append(" " + mark + mark)
            }
        }
        return [StyledLine("By day", .bold)] + lines.map { $0.withoutTrailingSpaces.truncated(toCells: width) }
            + ("today, " + today.text).wrapped(toCells: width - 2).map { StyledLine("  " + $0, .dim) }
    }
}
