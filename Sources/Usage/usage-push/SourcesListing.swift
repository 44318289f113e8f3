import ClockZones
import Essentials
import LocalFiles
import TerminalText
import UsagePusher

/// What the sources found, as text or JSON. Pure.
struct SourcesListing: Listing {
    let reports: [SnapshotBuilder.Report]
    let now: Date
    let home: String
    /// Tokens by provider id.
    var tokens: [String: TokenSummary] = [:]
    /// Why logs of tokens could not be read.
    var tokenIssues: [String] = []
    /// Where tools that were not found were looked for, by provider id; nil to name these tools only.
    var places: [String: [String]]?
    /// Homes that were found by their names and are not read.
    var unreadHomes: [ToolHome] = []
    /// The zone of the days.
    var zone = ClockZone.local

    /// A table with a row for each path, and below each row its details; then a line for each tool that states tokens,
    /// the homes that are not read, and the tools that were not found.
    func lines(width: Int?) -> [String] {
        let tables = [findingLines(width: width), tokenLines(width: width), unreadLines(width: width)].filter {
            !$0.isEmpty
        }
        let lines = Array(tables.joined(separator: [""]))
        let missing = missingLines(width: width)
        return lines + (lines.isEmpty || missing.isEmpty ? [] : [""]) + missing
    }

    private func findingLines(width: Int?) -> [String] {
        var table = TextTable(columns: [
            .init("PROVIDER"), .init("WHAT"), .init("CERTAINTY"), .init("AGE"), .init("WHERE", isFlexible: true),
        ])
        var details: [String] = []
        for report in listed {
            for finding in report.reading?.findings ?? [] {
                table.append([
                    report.providerID, finding.title, finding.certainty?.rawValue ?? "–",
                    finding.observedAt.map { DurationFormatter.age(of: $0, at: now) } ?? "–",
                    UserDirectories.abbreviated(finding.path, home: home),
                ])
                details.append(finding.detail)
            }
        }
        guard !details.isEmpty else { return [] }
        let rows = table.lines(width: width)
        var lines = Array(rows.prefix(1))
        for (row, detail) in zip(rows.dropFirst(), details) {
            lines.append(row)
            lines += Self.indented(detail, width: width)
        }
        for report in reports where report.reading?.isPartial == true {
            lines.append(
                "\(VisibleText.escape(report.providerName)): more files than one pass may read;"
                    + " numbers may be older than the files")
        }
        return lines
    }

    /// The tools that were found, and those of which that is not known, then with `places` the others.
    private var listed: [SnapshotBuilder.Report] {
        let found = reports.filter { !isMissing($0) }
        return places == nil ? found : found + reports.filter(isMissing)
    }

    private func isMissing(_ report: SnapshotBuilder.Report) -> Bool {
        guard let reading = report.reading else { return false }
        return !reading.isInstalled && !reading.findings.contains(where: \.isError)
    }

    private static func indented(_ text: String, width: Int?) -> [String] {
        VisibleText.escape(text).wrapped(toCells: max(30, (width ?? 100) - 4)).map { "    " + $0 }
    }

    // MARK: Tokens

    private func tokenLines(width: Int?) -> [String] {
        let stated = reports.compactMap { report in
            tokens[report.providerID].map { (id: report.providerID, summary: $0) }
        }
        var lines: [String] = []
        if !stated.isEmpty {
            var table = TextTable(
                columns: [.init("TOKENS OF")]
                    + ["REQUESTS", "TOKENS"].map { .init($0, alignment: .trailing) }
                    + [.init("DAYS"), .init("FILES", alignment: .trailing), .init("", isFlexible: true)])
            for (id, summary) in stated {
                table.append([
                    id, "\(summary.requestCount)", CountFormatter.abbreviated(summary.counts.total), days(summary),
                    "\(summary.fileCount)", Self.remarks(on: summary),
                ])
            }
            lines = table.lines(width: width)
        }
        for (id, summary) in stated where !summary.leftOut.isEmpty {
            let paths = summary.leftOut.prefix(3).map {
                "\($0.count) in \(UserDirectories.abbreviated($0.path, home: home))"
            }
            let more = summary.leftOut.count > 3 ? ", …" : ""
            lines += Self.indented(
                "\(id): skipped invalid records (an impossible number or time, or no end): "
                    + paths.joined(separator: ", ") + more, width: width)
        }
        return lines + tokenIssues.flatMap { Self.indented($0, width: width) }
    }

    /// "2026-09-01 – 2026-09-17", in the user's time zone.
    private func days(_ summary: TokenSummary) -> String {
        var clock = ReportClock(zone: zone)
        let days = [summary.first, summary.last].map {
            clock.day(of: Int64($0.timeIntervalSince1970 * 1_000)).description
        }
        return days[0] == days[1] ? days[0] : days.joined(separator: " – ")
    }

    private static func remarks(on summary: TokenSummary) -> String {
        let leftOut = summary.leftOut.reduce(0) { $0 &+ $1.count }
        let notes = [
            leftOut == 0 ? nil : leftOut == 1 ? "1 invalid record" : "\(leftOut) invalid records",
            summary.unreadableCount == 0 ? nil : "\(summary.unreadableCount) unreadable",
            summary.isPartial ? "partial, run again" : nil,
        ]
        return notes.compactMap { $0 }.joined(separator: "; ")
    }

    // MARK: What is not read

    private func unreadLines(width: Int?) -> [String] {
        unreadHomes.flatMap { home in
            let path = UserDirectories.abbreviated(home.path, home: self.home)
            return VisibleText.escape(
                "not read: \(path) (to read it: usage-push config add-home \(home.providerID) \(path))"
            ).wrapped(toCells: max(30, width ?? 100))
        }
    }

    private func missingLines(width: Int?) -> [String] {
        let missing = reports.filter(isMissing)
        guard !missing.isEmpty else { return [] }
        guard let places else {
            let names = PushMessages.names(missing)
            return VisibleText.escape(
                "not found: \(names) (usage-push sources --all lists where each was looked for)"
            ).wrapped(toCells: max(30, width ?? 100))
        }
        return missing.flatMap { report in
            ["not found: \(VisibleText.escape(report.providerName)), looked for in"]
                + (places[report.providerID] ?? []).map {
                    "    " + VisibleText.escape(UserDirectories.abbreviated($0, home: home))
                }
        }
    }

    // MARK: JSON

    var document: some Encodable {
        Document(
            generatedAt: now, sources: reports.map { Source($0, tokens[$0.providerID]) }, tokenIssues: tokenIssues,
            unreadHomes: unreadHomes)
    }

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var schemaVersion = 1
        var generatedAt: Date
        var sources: [Source]
        var tokenIssues: [String]
        var unreadHomes: [ToolHome]
    }

    private struct Source: Encodable {
        var providerID: String
        var providerName: String
        var isInstalled: Bool
        var isPartial: Bool
        var isPushed: Bool
        var findings: [SourceFinding]
        var tokens: Tokens?

        init(_ report: SnapshotBuilder.Report, _ tokens: TokenSummary?) {
            self.tokens = tokens.map(Tokens.init)
            providerID = report.providerID
            providerName = report.providerName
            isInstalled = report.reading?.isInstalled ?? false
            isPartial = report.reading?.isPartial ?? false
            isPushed = report.reading?.providers.isEmpty == false || tokens != nil
            findings = report.reading?.findings ?? []
        }
    }

    private struct Tokens: Encodable {
        struct LeftOut: Encodable {
            var path: String
            var count: Int
        }

        var requests: Int
        var inputTokens: Int
        var outputTokens: Int
        var cacheReadTokens: Int
        var cacheCreationTokens: Int
        var totalTokens: Int
        var firstRequestAt: Date
        var lastRequestAt: Date
        var files: Int
        var leftOut: [LeftOut]
        var isPartial: Bool
        var unreadable: Int

        init(_ summary: TokenSummary) {
            requests = summary.requestCount
            inputTokens = summary.counts.input
            outputTokens = summary.counts.output
            cacheReadTokens = summary.counts.cacheRead
            cacheCreationTokens = summary.counts.cacheWrite
            totalTokens = summary.counts.total
            firstRequestAt = summary.first
            lastRequestAt = summary.last
            files = summary.fileCount
            leftOut = summary.leftOut.map { LeftOut(path: $0.path, count: $0.count) }
            isPartial = summary.isPartial
            unreadable = summary.unreadableCount
        }
    }
}
