import TerminalText

/// Rows of a report as CSV. Pure.
package struct ReportCSV {
    let report: TokenReport
    let grouping: TokenReport.Grouping
    var byProject = false
    let format: ReportFormat

    /// A header, and a row for each period or with `hasModelRows` for each model of it.
    var lines: [String] {
        let hasProjects = byProject || grouping == .session
        var header = [grouping.columnName, "agents"]
        if hasProjects { header.append("project") }
        header.append(format.hasModelRows ? "model" : "models")
        header += Self.amountNames(format)
        if grouping == .session { header += ["firstActivity", "lastActivity"] }
        let rows = report.rows.flatMap { row in
            Self.models(row.models, row.total, format).map { name, amount in
                var cells = [row.period, row.providers.joined(separator: " ")]
                if hasProjects { cells.append(row.project ?? "") }
                cells.append(name)
                cells += Self.cells(amount, format)
                if grouping == .session { cells += [ReportClock.utc(row.first), ReportClock.utc(row.last)] }
                return cells
            }
        }
        return ([header] + rows).map(CSVText.line)
    }

    package static func amountNames(_ format: ReportFormat) -> [String] {
        [
            "requests", "inputTokens", "outputTokens", "reasoningOutputTokens",
            "cacheCreationTokens", "cacheReadTokens", "totalTokens",
        ] + (format.hasCosts ? ["costUSD"] + Self.unpricedNames : [])
    }

    private static let unpricedNames = ["requestsWithoutPrice", "tokensWithoutPrice", "shareWithoutPrice"]

    package static func cells(_ amount: UsageAmount, _ format: ReportFormat) -> [String] {
        let counts = amount.counts
        let numbers = [
            amount.requestCount, counts.input, counts.output, counts.reasoning, counts.cacheWrite,
            counts.cacheRead, counts.total,
        ].map { String($0) }
        guard format.hasCosts else { return numbers }
        return numbers + [
            ReportText.decimal(amount.cost.dollars(format.mode)),
            String(amount.cost.unknownCount(format.mode)),
            String(amount.cost.unknownTokens(format.mode)),
            ReportText.decimal(amount.unknownShare(format.mode)),
        ]
    }

    /// The rows of one period: one with the names of all models, or one for each model.
    package static func models(
        _ models: [ModelUsage], _ total: UsageAmount, _ format: ReportFormat
    ) -> [(name: String, amount: UsageAmount)] {
        format.hasModelRows
            ? models.byCost(format.mode).map { ($0.name, $0.amount) }
            : [(models.map(\.name).sorted().joined(separator: " "), total)]
    }
}
