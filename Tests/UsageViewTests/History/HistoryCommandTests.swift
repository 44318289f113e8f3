import ClockZones
import Foundation
import TestSupport
import TerminalText
import Testing

@testable import UsageState
@testable import usage_view

/// The built programs with a store of their own.
@Suite("usage-view history", .temporaryHome, .timeLimit(.minutes(5)))
struct HistoryCommandTests {
    private static let directory = ".codex/sessions/2026/11/24"

    private let home = TemporaryHome.ofTest

    /// What Codex writes when it has asked for its limits.
    private func codex(
        _ home: TemporaryHome, session: Double, weekly: Double, minutesAgo: Int, resetsInMinutes: Int = 60
    ) throws {
        let now = Int(Date().timeIntervalSince1970)
        func row(_ type: String, _ at: Int, _ payload: String) -> String {
            let time = Date(timeIntervalSince1970: Double(at)).formatted(.iso8601)
            return #"{"timestamp":"\#(time)","type":"\#(type)","payload":{\#(payload)}}"# + "\n"
        }
        let id = "01a0d000-0000-7000-8000-0000000000aa"
        let file = home.path + "/\(Self.directory)/rollout-2026-11-24T00-00-00-\(id).jsonl"
        let earlier =
            (try? String(contentsOfFile: file, encoding: .utf8))
            ?? row("session_meta", now - 90_000, #""id":"\#(id)","cwd":"/home/dev""#)
        func window(_ percent: Double, _ minutes: Int, _ reset: Int) -> String {
            #"{"used_percent":\#(percent),"window_minutes":\#(minutes),"resets_at":\#(reset)}"#
        }
        let limits =
            #""type":"token_count","rate_limits":{"limit_id":"codex","primary":"#
            + window(session, 300, now + resetsInMinutes * 60) + #","secondary":"#
            + window(weekly, 10_080, now + 300_000) + "}"
        try home.file(
            String(file.dropFirst(home.path.count + 1)), earlier + row("event_msg", now - minutesAgo * 60, limits))
    }

    @Test("two pushes are two points, after a restart and without a daemon")
    func pushes() async throws {
        try codex(home, session: 40, weekly: 60, minutesAgo: 50)
        #expect(try await home.run("usage-push", ["-q"]).status == 0)
        try codex(home, session: 100, weekly: 61, minutesAgo: 2)
        #expect(try await home.run("usage-push", ["-q"]).status == 0)
        let json = try await home.run("usage-view", ["history", "--json", "codex"])
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(HistoryReport.self, from: json.output)
        #expect(report.windows.map(\.label) == ["Session (5h)", "Weekly"])
        let session = try #require(report.windows.first)
        #expect(session.points.map(\.percent) == [40, 100])
        #expect(session.points.map(\.isReached) == [false, true])
        #expect(session.reachedIn7Days == 1 && session.greatestPercent == 100)
        #expect(report.windows.last?.points.map(\.percent) == [60, 61])

        let text = try await home.run("usage-view", ["history", "--window", "session"]).text
        #expect(text.contains("reached once in 7 days, once in 90") && text.contains("█"))
        #expect(!text.contains("Weekly"))
        var ascii = home
        ascii.variables = ["LANG": "C"]
        let plain = try await ascii.run("usage-view", ["history", "Codex", "--since", "24h"])
        #expect(plain.output.allSatisfy { $0 < 0x80 } && plain.text.contains("#"))
        let csv = try await home.run("usage-view", ["history", "--csv"]).text
        #expect(csv.split(separator: "\n").count == 5)
        #expect(csv.contains("\ncodex,,Session (5h),300,"))
    }

    @Test("a push that changes nothing writes no history")
    func unchanged() async throws {
        try codex(home, session: 40, weekly: 60, minutesAgo: 50)
        #expect(try await home.run("usage-push", ["-q"]).status == 0)
        let log = home.path + "/.local/share/ubiquity/replicas/local/default"
        func records() throws -> Int {
            let files = try FileManager.default.contentsOfDirectory(atPath: log)
            return try files.filter { $0.hasSuffix(".log") }.reduce(0) { sum, name in
                let bytes = try Data(contentsOf: URL(filePath: "\(log)/\(name)"))
                return sum + bytes.ranges(of: Data("UBQH".utf8)).count
            }
        }
        let first = try records()
        #expect(first == 1)
        #expect(try await home.run("usage-push", ["-q"]).status == 0)
        #expect(try records() == first)
        try codex(home, session: 42, weekly: 60, minutesAgo: 20)
        #expect(try await home.run("usage-push", ["-q"]).status == 0)
        #expect(try records() == first + 1)
    }

    @Test("errors name what there is, and what may be asked for")
    func errors() async throws {
        func fails(_ arguments: String..., saying message: String) async throws {
            let outcome = try await home.run("usage-view", ["history"] + arguments)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
        try await fails("--demo", "nobody", saying: "'nobody'; there is: claude, codex")
        try await fails("--demo", "codex", "--window", "opus", saying: "'opus'; there is: Session (5h), Weekly")
        for since in ["3w", "-1d", "91d", "2026-02-30", "99999999999h"] {
            try await fails("--demo", "--since=\(since)", saying: "use hours (24h)")
        }
        try await fails("--demo", "--since", "2999-01-01", saying: "is in the future")
        try await fails("--demo", "--json", "--csv", saying: "cannot be combined")
    }

    @Test("without anything it says what to do")
    func nothing() async throws {
        let outcome = try await home.run("usage-view", ["history"])
        #expect(outcome.status == 0 && outcome.text.contains("usage-push"))
        try home.file(".codex/auth.json", #"{"OPENAI_API_KEY": "x"}"#)
        let json = try await home.run("usage-view", ["history", "--json"])
        #expect(json.text.contains(#""windows" : ["#))
    }

    @Test("names from outside reach neither the terminal nor a spreadsheet as they are")
    func hostile() throws {
        var history = UsageHistory()
        let now = HistorySample.monday
        for name in ["=1+1", "@x", "a\"b,c", "\u{1B}[31mred\n", "\u{202E}evil"] {
            history.add(
                [HistorySample.card(5, at: now, resetsAt: nil, label: name, account: name)],
                now: HistorySample.date(now))
        }
        let model = ViewModel(
            data: UsageData(link: .online, stored: .nothing, history: history),
            now: HistorySample.date(now), zone: .fixed(secondsFromGMT: 0))
        let listing = HistoryListing(model, since: HistorySample.date(now - 86_400))
        #expect(listing.entries.count == 5)
        let lines = HistoryCSV.lines(of: listing)
        let shown = HistoryLines(listing: listing, model: model, width: 60).lines
        let scalars = (lines + shown.map(\.plainText)).joined().unicodeScalars
        #expect(!scalars.contains { "\u{1B}\u{202E}\n".unicodeScalars.contains($0) })
        #expect(lines.contains { $0.hasPrefix("codex,'=1+1,'=1+1,") })
        #expect(lines.contains { $0.contains(#""a""b,c""#) })
        #expect(shown.allSatisfy { $0.cells <= 60 })
    }

    @Test("the five windows of somebody who works by day take few bytes")
    func size() {
        let history = DemoUsage.data(at: HistorySample.date(HistorySample.monday)).history
        #expect(history.windows.count == 5)
        let size = HistoryCodec.encode(history).count
        #expect((1_000..<5_000).contains(size), "\(size)")
    }

    @Test("a plot has what is stored, with gaps where nothing is")
    func plot() throws {
        let now = HistorySample.monday
        var history = UsageHistory()
        for (hour, percent) in [(0, 50.0), (1, 100), (4, 7)] {
            let time = now + hour * 3_600
            history.add(
                [
                    HistorySample.card(percent, at: time, minutes: 300, resetsAt: now + (hour < 2 ? 7_200 : 25_200))
                ], now: HistorySample.date(time))
        }
        let series = try #require(PlotSeries.all(of: history, since: HistorySample.date(now)).first)
        #expect(series.samples.map(\.percent) == [50, nil, 100, nil, 0, nil, 7])
        #expect(series.resets == [HistorySample.date(now + 7_200)])
        #expect(series.reached == [HistorySample.date(now + 3_600)])
        #expect(PlotSeries.all(of: history, since: .distantFuture).isEmpty)
    }

    @Test("lines fit every width", arguments: [1, 12, 20, 40, 79, 80, 90])
    func widths(width: Int) {
        let now = HistorySample.date(HistorySample.monday)
        let model = ViewModel(data: DemoUsage.data(at: now), now: now, zone: .fixed(secondsFromGMT: 0))
        let listing = HistoryListing(model, since: now.addingTimeInterval(-7 * 86_400))
        let lines = HistoryLines(listing: listing, model: model, width: width).lines
        #expect(!lines.isEmpty)
        if width >= 20 { #expect(lines.allSatisfy { $0.cells <= width }) }
    }
}
