import Commands
import Essentials
package import TerminalText

/// What a report prints.
package struct ReportOutput {
    package enum Body {
        case json(ReportValue)
        case lines([StyledLine])
    }

    package var body: Body
    /// What the body has no place for.
    package var remarks: [StyledLine] = []

    /// To standard output, and the remarks to standard error.
    package func print() throws {
        switch body {
        case .json(let value): try Console.printJSON(value, isIndented: true)
        case .lines(let lines): try Self.print(lines)
        }
        for remark in remarks { Console.report(remark.plainText) }
    }

    /// In one write: a report has up to thousands of lines. With styles where the environment and standard output allow
    /// them.
    package static func print(_ lines: [StyledLine]) throws {
        let isColored = ColorPolicy.isColored(
            environment: ProcessInfo.processInfo.environment, isTerminal: Console.isOutputTerminal)
        try Console.print(lines.map { ANSI.render($0, isColored: isColored) }.joined(separator: "\n"))
    }
}

extension ReportOptions {
    /// The report of a usage.
    ///
    /// - Parameters:
    ///   - providers: ids; none for all.
    ///   - gaps: why sums may be too small.
    ///   - emptyMessage: printed when there is nothing to report.
    ///   - width: the terminal's columns; nil without one.
    package func output(
        _ usage: TokenUsage, by grouping: TokenReport.Grouping, byProject: Bool = false, providers: [String],
        gaps: [String], emptyMessage: String, width: Int?
    ) -> ReportOutput {
        let (query, format) = (query(of: providers), format(of: providers))
        let report = TokenReport(usage, by: grouping, byProject: byProject, query: query)
        let unknown = report.unknownModels(mode)
        let remarks = ReportTable.remarks(report.total, unknown, format, width: .max)
        if json {
            let document = ReportDocument(
                report: report, grouping: grouping, byProject: byProject, statesProject: project != nil,
                format: format)
            return ReportOutput(body: .json(document.value.stating(gaps: gaps)), remarks: remarks)
        }
        if csv {
            let table = ReportCSV(report: report, grouping: grouping, byProject: byProject, format: format)
            return ReportOutput(body: .lines(table.lines.map { StyledLine($0) }), remarks: remarks)
        }
        guard !report.rows.isEmpty else {
            return ReportOutput(body: .lines([StyledLine(emptyMessage)] + ReportTable.remarks(gaps)))
        }
        let table = ReportTable(
            report: report, grouping: grouping, byProject: byProject, format: format,
            clock: ReportClock(zone: query.zone))
        return ReportOutput(
            body: .lines(
                table.lines(width: width, isCompact: compact) + ReportTable.remarks(gaps, width: width)))
    }
}
