import ArgumentParser
import Commands
import Essentials
package import TerminalText

extension ReportOptions {
    /// Prints a report in the form that is asked for, and on standard error what that has no place for.
    ///
    /// - Parameters:
    ///   - providers: ids; none for all.
    ///   - gaps: why sums may be too small.
    ///   - emptyMessage: printed when there is nothing to report.
    package func print(
        _ usage: TokenUsage, by grouping: TokenReport.Grouping, byProject: Bool = false, providers: [String],
        gaps: [String], emptyMessage: String
    ) throws {
        let (query, format) = (query(of: providers), format(of: providers))
        let report = TokenReport(usage, by: grouping, byProject: byProject, query: query)
        try print(
            json: ReportDocument(
                report: report, grouping: grouping, byProject: byProject, statesProject: project != nil,
                format: format
            ).value,
            csv: ReportCSV(report: report, grouping: grouping, byProject: byProject, format: format).lines,
            table: ReportTable(
                report: report, grouping: grouping, byProject: byProject, format: format,
                clock: ReportClock(zone: query.zone)
            ).lines(width: Console.outputColumns, isCompact: compact),
            isEmpty: report.rows.isEmpty, emptyMessage: emptyMessage,
            gaps: gaps + ReportTable.gaps(of: report.total),
            unpriced: ReportTable.remarks(report.total, report.unknownModels(mode), format, width: .max))
    }

    /// Prints one of the forms of a report; the others are not made.
    ///
    /// - Parameter unpriced: what the costs lack, which the table says itself.
    package func print(
        json value: @autoclosure () -> ReportValue, csv lines: @autoclosure () -> [String],
        table: @autoclosure () -> [StyledLine], isEmpty: Bool, emptyMessage: String, gaps: [String],
        unpriced: @autoclosure () -> [StyledLine]
    ) throws {
        guard json || csv else {
            let width = Console.outputColumns
            return try Self.print(
                isEmpty
                    ? [StyledLine(emptyMessage)] + ReportTable.remarks(gaps)
                    : table() + ReportTable.remarks(gaps, width: width))
        }
        if json {
            try Console.printJSON(value().stating(gaps: gaps), isIndented: true)
        } else {
            try Console.print(lines().joined(separator: "\n"))
        }
        for line in unpriced() { Console.report(line.plainText) }
    }

    /// In one write: a report has up to thousands of lines. With styles where the environment and standard output allow
    /// them.
    private static func print(_ lines: [StyledLine]) throws {
        let isColored = ColorPolicy.isColored(
            environment: ProcessInfo.processInfo.environment, isTerminal: Console.isOutputTerminal)
        try Console.print(lines.map { ANSI.render($0, isColored: isColored) }.joined(separator: "\n"))
    }
}
