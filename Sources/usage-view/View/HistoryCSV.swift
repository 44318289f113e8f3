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
        let rows = HistoryReport(listing).windows.flatMap { window in
            window.points.map { point in
                [
                    window.provider, window.account ?? "", window.label,
                    window.windowMinutes.map { "\($0)" } ?? "",
                    point.at.formatted(.iso8601), "\(point.seconds)",
                    point.percent.map { "\($0)" } ?? "",
                    point.percentBeforeReset.map { "\($0)" } ?? "", "\(point.isReached)",
                    "\(point.isEstimate)",
                ]
            }
        }
        return ([header] + rows).map(CSVText.line)
    }
}
