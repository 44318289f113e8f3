import ClockZones
import Foundation
import TerminalText
import StoreTestSupport
import Testing

@testable import UsagePusher
@testable import usage_push

@Suite("Texts of reports")
struct ReportTextTests {
    @Test("numbers have separators, and dollars cents")
    func numbers() {
        #expect([0, 999, 1_000, 1_234_567].map(ReportText.count) == ["0", "999", "1,000", "1,234,567"])
        let dollars = [0, 0.000_1, 0.01, 1, 12.346, 1_234_567.891]
        #expect(dollars.map(ReportText.dollars) == ["$0.00", "<$0.01", "$0.01", "$1.00", "$12.35", "$1,234,567.89"])
        #expect(ReportText.decimal(0.000_05) == "0.000050")
    }

    @Test(
        "cells of CSV are quoted, and no formulas",
        arguments: [
            ("a", "a"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("=1", "'=1"), ("-home-dev", "'-home-dev"),
            ("+1", "'+1"), ("@x", "'@x"), ("\t=1", "'\\u{9}=1"), ("\r=1", "'\\u{D}=1"), ("a\nb", "a\\u{A}b"), ("", ""),
            ("=\"a\"", "\"'=\"\"a\"\"\""), ("=\u{301}1", "'=\u{301}1"), ("a,\u{301}", "\"a,\u{301}\""),
        ])
    func cells(_ text: String, _ cell: String) {
        #expect(CSVText.cell(text) == cell)
    }

    @Test("a project's name is no flag, although it begins with a hyphen")
    func project() {
        let name = "-home-dev-app"
        #expect(
            ReportCommand.attachingProject(in: ["report", "daily", "-p", name, "--json"])
                == ["report", "daily", "--project=" + name, "--json"])
        for others in [
            ["report", "--project", "--json"], ["report", "-p", "app"], ["sources", "-p", name],
            ["report", name, "--project"], [],
        ] {
            #expect(ReportCommand.attachingProject(in: others) == others)
        }
    }

    @Test("the bar shows the share that was read")
    func bar() {
        #expect(
            ScanProgressBar.text(read: 400_000_000, of: 1_250_000_000)
                == "reading ██████░░░░░░░░░░░░░░  32 % of 1.2 GB")
        #expect(ScanProgressBar.text(read: 9, of: 5) == "reading ████████████████████ 100 % of 5 bytes")
        #expect(ScanProgressBar.text(read: 0, of: 0).hasSuffix("  0 % of 0 bytes"))
    }

    /// Two models with long names and long numbers in one session.
    private static let usage = {
        var usage = TokenUsage()
        usage.models = ["claude-opus-5-with-a-long-name", "another-model-with-a-long-name"]
        usage.sessions = [TokenSession(id: UUID().uuidString, project: "/home/dev/app", source: "claude")]
        for model in 0..<2 as Range<UInt16> {
            let key = TokenBucket.Key(quarter: 1_990_000, session: 0, model: model, tier: .standard, isCoarse: false)
            usage.buckets.append(
                TokenBucket(
                    key: key, first: 1_791_000_000_000, last: 1_791_000_100_000, requestCount: 1,
                    counts: TokenCounts(
                        input: 1_234_567, output: 2_345_678, cacheRead: 3_456_789_012, cacheWrite5m: 45_678_901)))
        }
        return usage
    }()

    private static let format = ReportFormat(hasModelRows: true)

    @Test(
        "no line is wider than the terminal, and every width shows cost and what fits",
        arguments: [
            (40, "DAY TOTAL COST"), (59, "DAY TOTAL COST"), (60, "DAY MODELS INPUT OUTPUT COST"),
            (100, "DAY MODELS INPUT OUTPUT COST"),
            (120, "DAY AGENT MODELS INPUT OUTPUT CACHE CREATE CACHE READ TOTAL COST"),
            (160, "DAY AGENT MODELS INPUT OUTPUT CACHE CREATE CACHE READ TOTAL COST"),
        ])
    func widths(_ width: Int, _ titles: String) {
        let table = ReportTable(
            report: TokenReport(Self.usage, by: .day, query: ReportQuery(zone: .gmt)),
            grouping: .day, format: Self.format, clock: ReportClock(zone: .gmt))
        let lines = table.lines(width: width).map(\.plainText)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.joined(separator: "\n"))")
        #expect(lines[0].split(separator: " ").joined(separator: " ") == titles)
    }

    @Test("days of which a tool tells only the session's are marked, in tables and in JSON")
    func coarseDays() throws {
        var usage = Self.usage
        let total = try #require(usage.buckets.first).counts.total
        usage.buckets[0].key.isCoarse = true
        func report(_ grouping: TokenReport.Grouping) -> TokenReport {
            TokenReport(usage, by: grouping, query: ReportQuery(zone: .gmt))
        }
        func lines(_ grouping: TokenReport.Grouping) -> [String] {
            ReportTable(
                report: report(grouping), grouping: grouping, format: Self.format, clock: ReportClock(zone: .gmt)
            ).lines(width: nil).map(\.plainText)
        }
        let days = lines(.day)
        #expect(days[1].hasPrefix(report(.day).rows[0].period + " ~"))
        #expect(days.contains { $0.hasPrefix("~ \(ReportText.count(total)) of ") })
        #expect(!lines(.session).contains { $0.contains("~") })
        let document = ReportDocument(report: report(.day), grouping: .day, format: Self.format)
        let text = try String(decoding: JSONEncoder().encode(document.value), as: UTF8.self)
        #expect(text.components(separatedBy: "\"sessionDatedTokens\":\(total)").count == 3)
    }

    @Test("a session that does not fit is shown with fewer columns", arguments: [40, 70, 110, 200])
    func session(_ width: Int) {
        let table = ReportTable(
            report: TokenReport(Self.usage, by: .session, query: ReportQuery(zone: .gmt)),
            grouping: .session, format: Self.format, clock: ReportClock(zone: .gmt))
        let lines = table.lines(width: width).map(\.plainText)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.joined(separator: "\n"))")
        #expect(lines[0].contains("COST"))
        #expect(lines[0].contains("CACHE READ") == (width == 200))
    }

    @Test("the active block of the sample home at noon is as it is stored")
    func activeBlock() throws {
        let home = Repository.fixtures.appending(path: "sources/claude/homes/usual").path
        let environment = SourceEnvironment(home: home)
        func price(_ name: String, _ input: Double) -> ModelPrice {
            ModelPrice(
                name: name,
                standard: .init(
                    rates: .init(input: input, output: 5 * input, cacheRead: input / 10, cacheWrite5m: 1.25 * input)))
        }
        let prices = ModelPrices.packaged.replacing([
            "claude-opus-5": price("claude-opus-5", 5),
            "claude-sonnet-5": price("claude-sonnet-5", 2),
        ])
        let usage = TokenLedger(of: ["claude"], in: environment).update(in: environment, prices: prices)
        // 2026-09-18T12:00:00Z
        let blocks = UsageBlocks(usage, query: ReportQuery(zone: .gmt), at: 1_789_732_800_000)
        let lines = BlocksTable(
            blocks: blocks, limit: .init(tokens: 100_000), format: ReportFormat(), clock: ReportClock(zone: .gmt)
        ).lines(width: nil).map(\.plainText)
        let text = lines.joined(separator: "\n") + "\n"
        try Repository.expect(Data(text.utf8), equals: "reports/blocks-active.txt", update: "UPDATE_REPORTS")
    }

    @Test("blocks fit the terminal, with the state of the active one", arguments: [40, 60, 100, 160])
    func blocks(_ width: Int) {
        let blocks = UsageBlocks(Self.usage, query: ReportQuery(zone: .gmt), at: 1_791_000_200_000)
        let lines = BlocksTable(
            blocks: blocks, limit: .init(tokens: 1_000_000), format: Self.format, clock: ReportClock(zone: .gmt)
        ).lines(width: width).map(\.plainText)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.joined(separator: "\n"))")
        #expect(lines[1].contains("active"))
        #expect(lines.contains { $0.contains("exceeds") })
    }
}
