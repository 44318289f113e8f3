import Foundation
import TerminalText
import UsagePusher

/// What the sources found, as text or JSON. Pure.
struct SourcesListing {
    let reports: [SnapshotBuilder.Report]
    let now: Date
    let home: String

    /// A table with a row for each path, and below each row its details.
    func lines(width: Int?) -> [String] {
        var table = TextTable(columns: [
            .init("PROVIDER"), .init("WHAT"), .init("CERTAINTY"), .init("AGE"),
            .init("WHERE", isFlexible: true),
        ])
        var details: [String] = []
        for report in reports {
            for finding in report.reading?.findings ?? [] {
                table.append([
                    report.providerID, finding.title, finding.certainty?.rawValue ?? "–",
                    finding.observedAt.map { DurationFormatter.age(of: $0, at: now) } ?? "–",
                    PushMessages.abbreviated(finding.path, home: home),
                ])
                details.append(finding.detail)
            }
        }
        let rows = table.lines(width: width)
        var lines = Array(rows.prefix(1))
        for (row, detail) in zip(rows.dropFirst(), details) {
            lines.append(row)
            let escaped = VisibleText.escape(detail)
            lines += escaped.wrapped(toCells: max(30, (width ?? 100) - 4)).map { "    " + $0 }
        }
        for report in reports where report.reading?.isPartial == true {
            lines.append(
                "\(VisibleText.escape(report.providerName)): more files than one pass may read;"
                    + " numbers may be older than the files")
        }
        return lines
    }

    var document: some Encodable {
        Document(generatedAt: now, sources: reports.map(Source.init))
    }

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var schemaVersion = 1
        var generatedAt: Date
        var sources: [Source]
    }

    private struct Source: Encodable {
        var providerID: String
        var providerName: String
        var isInstalled: Bool
        var isPartial: Bool
        var isPushed: Bool
        var findings: [SourceFinding]

        init(_ report: SnapshotBuilder.Report) {
            providerID = report.providerID
            providerName = report.providerName
            isInstalled = report.reading?.isInstalled ?? false
            isPartial = report.reading?.isPartial ?? false
            isPushed = report.reading?.providers.isEmpty == false
            findings = report.reading?.findings ?? []
        }
    }
}
