import ClockZones
import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Reports of other counters")
struct LedgerImportTests {
    private static let today = CalendarDay("2026-11-28")!.number

    private static func read(_ text: String, provider: String? = nil) throws(LedgerImport.Failure) -> LedgerImport {
        try LedgerImportReader.read(Data(text.utf8), provider: provider, today: today, zone: .gmt)
    }

    /// "2026-09-17 claude sonnet 100/50/0/4000/300 $0.120000": what is read, sorted.
    private static func lines(_ imported: LedgerImport) -> [String] {
        imported.amounts.map { key, amount in
            let counts = amount.counts
            let numbers = [counts.input, counts.output, counts.reasoning, counts.cacheRead, counts.cacheWrite]
            return [
                "\(CalendarDay(number: key.day))", key.source, key.project, key.model ?? "-",
                numbers.map(String.init).joined(separator: "/"),
                "$" + ReportText.decimal(amount.cost.dollars(.auto))
                    + (amount.cost.unknownTokens(.auto) > 0 ? "+\(amount.cost.unknownTokens(.auto))" : ""),
            ].compactMap(\.self).joined(separator: " ")
        }.sorted()
    }

    private static let claude = """
        {"daily": [{"cacheCreationTokens": 300, "cacheReadTokens": 4000, "date": "2026-09-17", "inputTokens": 100,
          "modelBreakdowns": [
            {"cacheCreationTokens": 300, "cacheReadTokens": 4000, "cost": 0.12, "inputTokens": 90,
             "modelName": "sonnet", "outputTokens": 50}],
          "modelsUsed": ["sonnet"], "outputTokens": 50, "totalCost": 0.125, "totalTokens": 4450}], "totals": {}}
        """
    private static let instances = """
        {"projects": {"-home-me-app": [{"date": "2026-09-17", "inputTokens": 1, "outputTokens": 2, "totalTokens": 3,
          "totalCost": 1, "project": "-home-me-app", "modelBreakdowns": []}],
          "unknown": [{"date": "2026-09-18", "inputTokens": 4, "outputTokens": 0, "totalTokens": 4, "totalCost": 0,
            "modelBreakdowns": [{"modelName": "m", "inputTokens": 4, "outputTokens": 0, "cost": 0}]}]}, "totals": {}}
        """
    private static let all = """
        {"daily": [{"agent": "all", "period": "2026-09-17", "inputTokens": 100, "outputTokens": 15, "cacheReadTokens": 110,
          "cacheCreationTokens": 0, "totalTokens": 225, "totalCost": 0.5, "metadata": {"agents": ["codex", "droid"]},
          "agents": [
            {"agent": "codex", "inputTokens": 60, "outputTokens": 15, "cacheReadTokens": 110, "totalTokens": 185,
             "totalCost": 0.4, "modelBreakdowns": [{"modelName": "gpt", "inputTokens": 60, "outputTokens": 15,
             "cacheReadTokens": 110, "cost": 0.4}]},
            {"agent": "droid", "inputTokens": 40, "totalTokens": 40, "totalCost": 0.1, "modelsUsed": ["glm"]}],
          "modelBreakdowns": [{"modelName": "gpt", "inputTokens": 100, "outputTokens": 15, "cacheReadTokens": 110,
            "cost": 0.5}]}], "monthly": [], "totals": {}}
        """
    private static let codex = """
        {"daily": [{"date": "2026-09-17", "inputTokens": 100, "cacheReadTokens": 110, "outputTokens": 17,
          "reasoningOutputTokens": 2, "totalTokens": 227, "costUSD": 0.5, "models": {
            "a": {"inputTokens": 60, "cacheReadTokens": 110, "outputTokens": 15, "reasoningOutputTokens": 2,
              "totalTokens": 185, "isFallback": false},
            "b": {"inputTokens": 40, "outputTokens": 2, "totalTokens": 42}}},
          {"cachedInputTokens": 110, "costUSD": 0.25, "date": "2026-09-18", "inputTokens": 210, "outputTokens": 15,
          "totalTokens": 225, "models": {"a": {"cachedInputTokens": 110, "inputTokens": 210, "outputTokens": 15}}}]}
        """
    private static let tokscale = """
        {"meta": {"version": "1"}, "contributions": [{"date": "2026-09-17", "totals": {"tokens": 1}, "intensity": 2,
          "clients": [{"client": "gemini", "modelId": "flash", "cost": 0.5, "messages": 3,
            "tokens": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "reasoning": 5}}]},
          {"date": "2025-12-01", "sources": [{"source": "claude", "modelId": "opus", "cost": 0, "messages": 1,
            "tokens": {"input": 9, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0}}]}]}
        """
    private static let codeburn = """
        {"schema": "codeburn.export.v2", "currency": {"code": "EUR", "rate": 0.5, "symbol": "€"}, "periods": [],
          "records": [
          {"project": "/src/app", "timestamp": "2026-09-17T23:59:59.000Z", "provider": "codex", "model": "gpt",
           "inputTokens": 1, "outputTokens": 20, "reasoningTokens": 5, "cacheWriteTokens": 0, "cacheReadTokens": 7,
           "cost": 0.25, "savings": 0},
          {"project": "/src/app", "timestamp": "2026-09-17T10:00:00Z", "provider": "codex", "model": "gpt",
           "inputTokens": 1, "outputTokens": 0, "reasoningTokens": 0, "cacheWriteTokens": 0, "cacheReadTokens": 0,
           "cost": 0.25}]}
        """

    @Test(
        "each shape of a report of days is read, with what it states of tools, projects, models and costs",
        arguments: [
            (
                claude,
                ["2026-09-17 claude - 10/0/0/0/0 $0.005000", "2026-09-17 claude sonnet 90/50/0/4000/300 $0.120000"]
            ),
            (
                instances,
                ["2026-09-17 claude -home-me-app - 1/2/0/0/0 $1.000000", "2026-09-18 claude m 4/0/0/0/0 $0.000000"]
            ),
            (all, ["2026-09-17 codex gpt 60/15/0/110/0 $0.400000", "2026-09-17 factory glm 40/0/0/0/0 $0.100000"]),
            (
                codex,
                [
                    "2026-09-17 codex - 0/0/0/0/0 $0.500000", "2026-09-17 codex a 60/15/2/110/0 $0.000000",
                    "2026-09-17 codex b 40/2/0/0/0 $0.000000", "2026-09-18 codex a 100/15/0/110/0 $0.250000",
                ]
            ),
            (tokscale, ["2025-12-01 claude opus 9/0/0/0/0 $0.000000", "2026-09-17 gemini flash 1/7/5/3/4 $0.500000"]),
            (codeburn, ["2026-09-17 codex /src/app gpt 2/20/5/7/0 $1.000000"]),
            (
                claude.replacing(#""cost": 0.12,"#, with: "").replacing(#""totalCost": 0.125,"#, with: ""),
                [
                    "2026-09-17 claude - 10/0/0/0/0 $0.000000+10",
                    "2026-09-17 claude sonnet 90/50/0/4000/300 $0.000000+4440",
                ]
            ),
            (#"{"daily": [], "totals": {}}"#, []),
        ] as [(String, [String])])
    func shapes(_ text: String, _ expected: [String]) throws {
        #expect(Self.lines(try Self.read(text)) == expected)
    }

    @Test("the tool that is named counts, whatever a report says")
    func provider() throws {
        #expect(
            Self.lines(try Self.read(Self.all, provider: "gemini")) == [
                "2026-09-17 gemini gpt 100/15/0/110/0 $0.500000"
            ])
    }

    @Test(
        "what is no report of days is refused with the place, the value and what to do",
        arguments: [
            ("[]", "it has no days"), ("[1]", "no JSON object"), ("", "the file is empty"), (#"{"daily":["#, "line 1"),
            ("{}", "no report that is known"), (#"{"monthly": []}"#, "monthly: the report states months"),
            (#"{"sessions": []}"#, "states sessions"), (#"{"blocks": []}"#, "states blocks"),
            (#"{"projects": []}"#, "projects: the report states projects without days"),
            (#"{"daily": 7}"#, "daily: a list is expected, not 7"), (#"{"daily": [7]}"#, "daily[0]: an object"),
            (#"{"daily": [{}]}"#, "daily[0]: it has no date"),
            (claude.replacing("09-17", with: "09-31"), #"daily[0].date: "2026-09-31" is no day"#),
            (claude.replacing("2026-09-17", with: "2027-09-17"), "is in the future"),
            (claude.replacing("2026-09-17", with: "1970-01-01"), "is before 2020"),
            (claude.replacing(": 90", with: ": -90"), "daily[0].modelBreakdowns[0].inputTokens: -90 is no count"),
            (claude.replacing(": 90", with: ": 1e18"), "1e18 is no count"),
            (claude.replacing("0.125", with: "1e7"), "daily[0].totalCost: 1e7 is no cost, from 0 to 1000000 dollars"),
            (claude.replacing("0.125", with: #""much""#), #""much" is no cost"#),
            (all.replacing("agents\": [\n", with: "parts\": [\n"), "daily[0]: it is of several tools (codex, droid): "),
            (all.replacing("codex", with: "Code X"), "'Code X' is no name of a tool"),
            (
                #"{"daily": [{"date": "2026-09-17", "inputTokens": 1}]}"#,
                "it does not say of which tool it is; name it with"
            ),
            (#"{"schema": "codeburn.export.v1", "periods": []}"#, "records: it has none"),
            (codeburn.replacing("0.5", with: "0"), "currency.rate"),
            (codeburn.replacing("2026-09-17T10:00:00Z", with: "then"), "records[1].timestamp: it is no time"),
        ])
    func refused(_ text: String, _ reason: String) throws {
        let error = #expect(throws: LedgerImport.Failure.self) { try Self.read(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("more days, models or projects than there can be are refused")
    func bounds() throws {
        func rows(_ count: Int, _ row: (Int) -> String) -> String {
            #"{"daily": ["# + (0..<count).map(row).joined(separator: ",") + "]}"
        }
        let days = rows(2_500) { #"{"date": "\#(CalendarDay(number: Self.today - $0))", "inputTokens": 1}"# }
        #expect(try Self.read(days, provider: "claude").amounts.count == 2_500)
        let models = rows(201) { #"{"date": "2026-09-17", "inputTokens": 1, "modelsUsed": ["m\#($0)"]}"# }
        #expect(throws: LedgerImport.Failure.self) { try Self.read(models, provider: "claude") }
        let projects = rows(1_001) { #"{"date": "2026-09-17", "inputTokens": 1, "project": "p\#($0)"}"# }
        #expect(throws: LedgerImport.Failure.self) { try Self.read(projects, provider: "claude") }
        let sums = rows(12) { _ in #"{"date": "2026-09-17", "inputTokens": 1000000000000000}"# }
        #expect(throws: LedgerImport.Failure.self) { try Self.read(sums, provider: "claude") }
        let size = Data(repeating: 0x20, count: LedgerImport.byteLimit + 1)
        #expect(throws: LedgerImport.Failure.self) { try LedgerImportReader.read(size, today: Self.today, zone: .gmt) }
    }

    @Test("whatever a file has, it is refused or its numbers are in range, and no program ends by it")
    func hostile() throws {
        let texts = [Self.claude, Self.instances, Self.all, Self.codex, Self.tokscale, Self.codeburn]
        var (random, failureCount) = (SeededGenerator(seed: 11), 0)
        let count = 4_000
        for number in 0..<count {
            let text = Self.changed(Array(texts[number % texts.count].utf8), &random)
            let provider = random.chance(3) ? "gemini" : nil
            let imported: LedgerImport
            do throws(LedgerImport.Failure) {
                imported = try LedgerImportReader.read(
                    Data(text), provider: provider, today: Self.today, zone: .fixed(secondsFromGMT: 50_400))
            } catch {
                #expect(error.description.utf8.count < 8_000)
                failureCount += 1
                continue
            }
            // What is read is stored, read again and reported.
            let plan = LedgerImportPlan(
                [imported, imported], device: "own", stored: LedgerPages([:]), zone: .gmt
            ) { $0.isEmpty ? nil : "p" }
            let pages = LedgerPages(plan.changes.compactMapValues(\.self))
            #expect(pages.failures.isEmpty, "\(String(decoding: text, as: UTF8.self))")
            var ledger = LedgerUsage(pages, zone: .gmt)
            let usage = ledger.usage(for: .day, .init(device: { $0 }, project: { $0 }))
            let report = TokenReport(usage, by: .day, query: ReportQuery(zone: .gmt))
            #expect(report.total.counts.total == plan.added.amount.counts.total)
            let table = ReportTable(
                report: report, grouping: .day, format: ReportFormat(), clock: ReportClock(zone: .gmt))
            #expect(!table.lines(width: 80).isEmpty)
        }
        // Neither all nor none.
        #expect((count / 4..<count * 9 / 10).contains(failureCount), "\(failureCount)")
    }

    /// With one to three values replaced by extremes, or a piece left out or repeated.
    private static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        let extremes = [
            "0", "-1", "1e308", "-0.0", "9223372036854775807", "999999999999999", "1000000000000000", "0.5", "1e-320",
            "\"\"", "\"9\"", "null", "true", "[]", "{}", "[[[[[[[[1]]]]]]]]", "{\"a\":{\"b\":[{}]}}", "\"\\u0000\"",
            "\"2026-09-17\"", "\"9999-12-31\"", "\"\\ud800\"", "\"" + String(repeating: "x", count: 5_000) + "\"",
        ]
        var bytes = bytes
        for _ in 0...random.below(2) {
            var place = random.below(bytes.count)
            if random.chance(16) {
                let end = min(bytes.count, place + 1 + random.below(30))
                if random.chance(2) { bytes.removeSubrange(place..<end) } else { bytes += bytes[place..<end] }
                continue
            }
            // The value after a colon.
            while place < bytes.count, bytes[place] != 0x3A { place += 1 }
            let start = place + 1
            guard start < bytes.count else { continue }
            let end = bytes[start...].firstIndex { [0x2C, 0x7D, 0x5D].contains($0) } ?? bytes.count
            bytes.replaceSubrange(start..<end, with: Array(random.pick(extremes).utf8))
        }
        return bytes
    }
}
