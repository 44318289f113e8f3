import Foundation
import Testing

@testable import UsagePusher

@Suite("Token reports")
struct TokenReportTests {
    /// The sample home, read by a ledger, with the package's prices.
    private func sample() throws -> TokenUsage {
        let home = try SampleHome(copying: "claude/usual")
        let environment = home.environment()
        return TokenLedger(of: ["claude"], in: environment).update(in: environment, prices: .packaged)
    }

    private func periods(_ report: TokenReport) -> [String] { report.rows.map(\.period) }

    @Test("the sample home has six requests that count, at the prices of their models")
    func sampleDay() throws {
        let usage = try sample()
        let report = TokenReport(usage, by: .day, query: query())
        #expect(periods(report) == ["2026-09-18"])
        let total = report.total
        #expect(total.requestCount == 6)
        #expect(total.counts == TokenCounts(input: 115, output: 960, cacheRead: 36_700, cacheWrite5m: 500))
        #expect(report.rows[0].models.map(\.name) == ["claude-opus-5", "claude-sonnet-5"])
        // claude-opus-5, $5 in, $25 out, $0.50 read, $6.25 written per million: msg_s01, s02, s04, s06, s07:
        //   107 × 5 + 550 × 25 + 21,700 × 0.5 + 500 × 6.25 = 535 + 13,750 + 10,850 + 3,125 = 28,260
        // claude-sonnet-5, $2 in, $10 out, $0.20 read: msg_s03:
        //   8 × 2 + 410 × 10 + 15,000 × 0.2 = 16 + 4,100 + 3,000 = 7,116
        #expect(report.rows[0].models[0].amount.cost.dollars(.auto) == 0.02826)
        #expect(report.rows[0].models[1].amount.cost.dollars(.calculate) == 0.007116)
        #expect(total.cost.dollars(.auto) == 0.035376)
        #expect(total.cost.dollars(.display) == 0)
        #expect(report.unknownModels(.auto).isEmpty)
    }

    @Test("the sample home's sessions have a row each, and subagents none")
    func sampleSessions() throws {
        let report = TokenReport(try sample(), by: .session, query: query())
        #expect(periods(report).map { $0.prefix(4) } == ["1111", "2222"])
        #expect(report.rows.map(\.total.requestCount) == [5, 1])
        #expect(report.rows.map(\.project) == ["-home-dev-alpha", "-home-dev-alpha"])
        #expect(report.rows[0].last == milliseconds("2026-09-18T10:54:40Z"))
    }

    @Test("a week is named by its first day, a month by itself")
    func grouping() {
        var invented = InventedUsage()
        for day in ["2026-08-30", "2026-08-31", "2026-09-06", "2026-09-07"] {
            invented.add(day + "T12:00:00Z")
        }
        let usage = invented.usage
        let monday = TokenReport(usage, by: .week(start: .monday), query: query())
        #expect(periods(monday) == ["2026-08-24", "2026-08-31", "2026-09-07"])
        let sunday = TokenReport(usage, by: .week(start: .sunday), query: query())
        #expect(periods(sunday) == ["2026-08-30", "2026-09-06"])
        var descending = query()
        descending.isDescending = true
        let months = TokenReport(usage, by: .month, query: descending)
        #expect(periods(months) == ["2026-09", "2026-08"])
        #expect(months.rows.map(\.total.requestCount) == [2, 2])
    }

    @Test("both ends of a range belong to it, in the report's zone")
    func range() {
        var invented = InventedUsage()
        invented.add("2026-09-16T18:14:59Z")
        invented.add("2026-09-16T18:15:00Z")
        invented.add("2026-09-17T18:14:59Z")
        invented.add("2026-09-17T18:15:00Z")
        var kathmandu = query("Asia/Kathmandu")
        kathmandu.since = CalendarDay("2026-09-17")
        kathmandu.until = CalendarDay("2026-09-17")
        let report = TokenReport(invented.usage, by: .day, query: kathmandu)
        #expect(periods(report) == ["2026-09-17"])
        #expect(report.total.requestCount == 2)
        let week = TokenReport(invented.usage, by: .week(start: .monday), query: kathmandu)
        #expect(periods(week) == ["2026-09-14"])
        #expect(week.total.requestCount == 2)
    }

    @Test("a session counts by the day of its last request, as a whole")
    func sessionRange() {
        var invented = InventedUsage()
        invented.add("2026-09-16T10:00:00Z", session: "a")
        invented.add("2026-09-17T18:14:00Z", session: "a")
        invented.add("2026-09-17T18:15:00Z", session: "b")
        var kathmandu = query("Asia/Kathmandu")
        kathmandu.until = CalendarDay("2026-09-17")
        var report = TokenReport(invented.usage, by: .session, query: kathmandu)
        #expect(periods(report) == ["a"])
        #expect(report.total.requestCount == 2)
        kathmandu.until = nil
        kathmandu.since = CalendarDay("2026-09-18")
        report = TokenReport(invented.usage, by: .session, query: kathmandu)
        #expect(periods(report) == ["b"])
    }

    @Test("a project and a provider are chosen by their exact names")
    func filters() {
        var invented = InventedUsage()
        invented.add("2026-09-17T10:00:00Z", session: "a", project: "/app")
        invented.add("2026-09-17T10:00:00Z", session: "b", project: "/app2")
        invented.add("2026-09-17T10:00:00Z", session: "c")
        invented.add("2026-09-17T10:00:00Z", session: "d", project: "/app", source: "codex")
        func sessions(_ change: (inout ReportQuery) -> Void) -> [String] {
            var query = query()
            change(&query)
            return periods(TokenReport(invented.usage, by: .session, query: query))
        }
        #expect(sessions { $0.project = "/app" } == ["a", "d"])
        #expect(sessions { $0.project = "/ap" } == [])
        #expect(sessions { $0.project = "unknown" } == ["c"])
        #expect(sessions { $0.providers = ["codex"] } == ["d"])
        #expect(sessions { $0.providers = ["jetbrains"] } == [])
        let byProject = TokenReport(invented.usage, by: .day, byProject: true, query: query())
        #expect(byProject.rows.map(\.project) == ["/app", "/app2", "unknown"])
        #expect(byProject.rows[0].providers == ["claude", "codex"])
    }

    @Test("a session that moved is one row, in its last directory")
    func moved() {
        var invented = InventedUsage()
        invented.add("2026-09-17T10:00:00Z", session: "a", project: "/old")
        invented.add("2026-09-17T11:00:00Z", session: "a", project: "/new")
        invented.add("2026-09-17T11:00:00Z", session: "a", project: "/new", source: "codex")
        let report = TokenReport(invented.usage, by: .session, query: query())
        #expect(report.rows.map(\.providers) == [["claude"], ["codex"]])
        #expect(report.rows[0].project == "/new" && report.rows[0].total.requestCount == 2)
    }

    @Test("a model without a price is named, and costs what the tool says or nothing")
    func unknownModel() {
        var invented = InventedUsage(prices: ["known": (10, 20)])
        let million = TokenCounts(input: 1_000_000)
        invented.add("2026-09-17T10:00:00Z", million, model: "known")
        invented.add("2026-09-17T10:00:00Z", million, model: "known", tier: .fast)
        invented.add("2026-09-17T10:00:00Z", million, model: "new")
        invented.add("2026-09-17T10:00:00Z", million, model: "new", cost: 3)
        invented.add("2026-09-17T10:00:00Z", million, model: nil)
        // A message of the tool's own: neither model nor tokens.
        invented.add("2026-09-17T10:00:00Z", TokenCounts(), model: nil, session: "own")
        let report = TokenReport(invented.usage, by: .day, query: query())
        #expect(report.rows[0].models.map(\.name).sorted() == ["known", "known-fast", "new", "unknown"])
        #expect(report.total.requestCount == 6)
        #expect(report.total.cost.dollars(.auto) == 10 + 20 + 3)
        #expect(report.total.cost.dollars(.calculate) == 10 + 20)
        #expect(report.total.cost.dollars(.display) == 3)
        #expect(report.unknownModels(.auto).map(\.name) == ["new", "unknown"])
        #expect(report.unknownModels(.auto).map { $0.amount.cost.unknownCount(.auto) } == [1, 1])
        #expect(report.unknownModels(.calculate)[0].amount.cost.unknownCount(.calculate) == 2)
        #expect(report.unknownModels(.display).isEmpty)
        #expect(report.rows[0].models.byCost(.auto).map(\.name) == ["known-fast", "known", "new", "unknown"])
    }

    @Test("a session without tokens has no row, and nothing gives no rows")
    func empty() {
        var invented = InventedUsage()
        #expect(TokenReport(invented.usage, by: .day, query: query()).rows.isEmpty)
        invented.add("2026-09-17T10:00:00Z", TokenCounts(), model: nil)
        #expect(TokenReport(invented.usage, by: .session, query: query()).rows.isEmpty)
    }
}
