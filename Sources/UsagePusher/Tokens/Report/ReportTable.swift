package import TerminalText

/// A report as a table. Pure.
package struct ReportTable {
    let report: TokenReport
    let grouping: TokenReport.Grouping
    var byProject = false
    let format: ReportFormat
    let clock: ReportClock

    /// Which columns there is room for.
    package enum Layout: CaseIterable {
        case full, compact, narrow

        static let compactWidth = 100
        static let narrowWidth = 60

        /// The widest that may be used on a terminal.
        package init(width: Int?, isCompact: Bool) {
            let width = width ?? .max
            self =
                width < Self.narrowWidth
                ? .narrow : width < Self.compactWidth || isCompact ? .compact : .full
        }

        /// Tables, the widest first, of which the first that fits is drawn; the last one is cut.
        package func lines(width: Int?, _ table: (Layout) -> TextTable) -> [StyledLine] {
            for layout in Self.allCases.drop(while: { $0 != self }) {
                let table = table(layout)
                guard let width, layout != .narrow, table.narrowestWidth > width else {
                    return table.styledLines(width: width)
                }
            }
            return []
        }
    }

    func lines(width: Int?, isCompact: Bool = false) -> [StyledLine] {
        Layout(width: width, isCompact: isCompact).lines(width: width, table)
            + Self.remarks(report.total, report.unknownModels(format.mode), format, width: width)
            + (grouping == .session ? [] : Self.dayNotes(report.total, width: width))
            + importNotes(width: width)
    }

    /// After the times that have imported tokens, and before the note that says so.
    private static let importMark = "*"

    private func importNotes(width: Int?) -> [StyledLine] {
        let count = report.importedDays.count
        guard count > 0 else { return [] }
        return Self.lines(
            "\(Self.importMark) \(ReportText.count(count)) \(count == 1 ? "day is" : "days are") imported: "
                + "\(ReportText.count(report.total.importedTokens)) of \(ReportText.count(report.total.counts.total)) "
                + "tokens are known from another counter alone, as no logs of these days were read", width: width)
    }

    /// After the days that have such tokens, and before the note that says what they are.
    private static let coarseMark = "~"

    /// How many tokens may be of an earlier day.
    package static func dayNotes(_ total: UsageAmount, width: Int?) -> [StyledLine] {
        guard total.coarseTokens > 0 else { return [] }
        let note =
            "\(coarseMark) \(ReportText.count(total.coarseTokens)) of \(ReportText.count(total.counts.total)) "
            + "tokens are of sessions whose tools do not tell the time of each request: they count when the "
            + "session was last at work"
        return lines(note, width: width)
    }

    /// What of a total its cost lacks, of which models, and what to do about it; nothing if it lacks nothing.
    package static func remarks(_ total: UsageAmount, _ unknown: [ModelUsage], _ format: ReportFormat, width: Int?)
        -> [StyledLine]
    {
        let count = total.cost.unknownCount(format.mode)
        guard format.hasCosts, count > 0 else { return [] }
        let names =
            unknown.prefix(nameLimit).map(\.name)
            + (unknown.count > nameLimit ? ["\(unknown.count - nameLimit) more"] : [])
        let tokens = total.cost.unknownTokens(format.mode)
        let note =
            "not priced: \(ReportText.count(tokens)) of \(ReportText.count(total.counts.total)) tokens "
            + "(\(ReportText.share(total.unknownShare(format.mode)))), in \(ReportText.count(count)) "
            + (count == 1 ? "request" : "requests") + " with \(names.joined(separator: ", ")); "
            + "to see all and set prices, run: usage-push prices --unpriced"
        return lines(note, width: width)
    }

    private static let nameLimit = 5

    /// What the costs lack that were to be calculated again.
    static func gaps(of total: UsageAmount) -> [String] {
        let count = total.keptCostCount
        guard count > 0 else { return [] }
        let subject =
            count == 1
            ? "1 request keeps the cost that was recorded: its model"
            : "\(ReportText.count(count)) requests keep the costs that were recorded: their model"
        return [subject + " is not stated in old sums by day or project, or has no price"]
    }

    /// The tools whose files could not be read, or not to their end.
    package static func remarks(_ gaps: [String], width: Int? = nil) -> [StyledLine] {
        gaps.flatMap { lines("incomplete: " + $0, width: width) }
    }

    /// A sentence below a table.
    package static func lines(_ text: String, width: Int?) -> [StyledLine] {
        VisibleText.escape(text).wrapped(toCells: max(30, width ?? 100)).map { StyledLine($0) }
    }

    private func table(_ layout: Layout) -> TextTable {
        let columns = columns(layout)
        var table = TextTable(columns: columns.map(\.column))
        func append(
            _ amount: UsageAmount, row: TokenReport.Row?, model: String? = nil, _ style: TextStyle = .plain
        ) {
            table.append(columns.map { $0.cell(Cells(row: row, model: model, amount: amount)) }, style)
        }
        for row in report.rows {
            append(row.total, row: row)
            guard format.hasModelRows else { continue }
            for model in row.models.byCost(format.mode) { append(model.amount, row: nil, model: "└ " + model.name) }
        }
        append(report.total, row: nil, .bold)
        return table
    }

    /// What a line of the table is about: a row, a model of it, or with neither all rows.
    private struct Cells {
        var row: TokenReport.Row?
        var model: String?
        var amount: UsageAmount
    }

    private struct Column {
        var column: TextTable.Column
        var cell: (Cells) -> String
    }

    private func columns(_ layout: Layout) -> [Column] {
        func text(_ title: String, isFlexible: Bool = true, _ cell: @escaping (Cells) -> String) -> Column {
            Column(column: .init(title, isFlexible: isFlexible), cell: cell)
        }
        func count(_ title: String, _ value: @escaping (TokenCounts) -> Int) -> Column {
            Column(column: .init(title, alignment: .trailing)) { ReportText.count(value($0.amount.counts)) }
        }
        let isSession = grouping == .session
        let isNarrow = layout == .narrow
        var columns = [
            text(title, isFlexible: !grouping.isOfTime || isNarrow) {
                $0.row.map(period) ?? ($0.model == nil ? "TOTAL" : isNarrow ? $0.model ?? "" : "")
            }
        ]
        if layout == .full, format.agents == .all {
            columns.append(text("AGENT") { $0.row?.providers.joined(separator: ", ") ?? "" })
        }
        if layout == .full && isSession || byProject && !isNarrow {
            columns.append(text("PROJECT") { $0.row?.project ?? "" })
        }
        if !isNarrow {
            columns.append(
                text("MODELS") { cells in
                    cells.model ?? cells.row?.models.map(\.name).sorted().joined(separator: ", ") ?? ""
                })
            columns += [count("INPUT", \.input), count("OUTPUT", \.output)]
        }
        if layout == .full { columns += [count("CACHE CREATE", \.cacheWrite), count("CACHE READ", \.cacheRead)] }
        if layout != .compact { columns.append(count("TOTAL", \.total)) }
        if format.hasCosts {
            columns.append(
                Column(column: .init("COST", alignment: .trailing)) { ReportText.cost($0.amount, format.mode) })
        }
        if isSession, !isNarrow {
            columns.append(
                text("LAST ACTIVITY", isFlexible: false) { cells in cells.row.map { clock.minute(of: $0.last) } ?? "" })
        }
        return columns
    }

    private func period(_ row: TokenReport.Row) -> String {
        guard grouping.isOfTime else { return row.period }
        let marks = [(row.total.coarseTokens, Self.coarseMark), (row.total.importedTokens, Self.importMark)]
        return marks.reduce(row.period) { $1.0 > 0 ? $0 + " " + $1.1 : $0 }
    }

    private var title: String {
        switch grouping {
        case .day: "DAY"
        case .week: "WEEK OF"
        case .month: "MONTH"
        case .year: "YEAR"
        case .session: "SESSION"
        case .project: "PROJECT"
        case .model: "MODEL"
        case .device: "MACHINE"
        }
    }
}
