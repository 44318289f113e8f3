import Essentials
import TerminalText
import UsageState

/// The past of windows as comma-separated values: a header, and a row for each slot with an observation or a mark.
enum HistoryCSV {
    static func lines(of listing: HistoryListing) -> [String] {
        let header = [
            "provider", "account", "window", "windowMinutes", "time", "seconds", "percent",
            "percentBeforeReset", "isReached", "isEstimate",
        ]
        var rows = [header]
        for window in HistoryReport(listing).windows {
            let head = [
                window.provider, window.account ?? "", window.label, window.windowMinutes.map(String.init) ?? "",
            ]
            rows += window.points.map { head + cells(of: $0) }
        }
        return rows.map(CSVText.line)
    }

    private static func cells(of point: HistoryReport.Point) -> [String] {
        [
            point.at.formatted(.iso8601), String(point.seconds), text(point.percent),
            text(point.percentBeforeReset), String(point.isReached), String(point.isEstimate),
        ]
    }

    private static func text(_ percent: Double?) -> String { percent.map { "\($0)" } ?? "" }
}
