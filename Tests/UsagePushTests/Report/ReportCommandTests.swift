import Foundation
import TerminalText
import TestSupport
import Testing

@Suite("usage-push report", .temporaryHome, .timeLimit(.minutes(5)))
struct ReportCommandTests {
    @Test(
        "an option that cannot be is refused, and named",
        arguments: [
            (["--tz", "Mars/Olympus"], "unknown time zone"), (["--tz", ""], "unknown time zone"),
            (["--since", "2026-02-30"], "no day of the calendar"),
            (["--until", "yesterday"], "no day of the calendar"),
            (["--since", "20260902", "--until", "20260901"], "is before --since"),
            (["--json", "--csv"], "cannot be combined"), (["--mode", "guess"], "invalid"),
            (["--provider", "nobody"], "Unknown provider"), (["weekly", "--start-of-week", "someday"], "invalid"),
            (["blocks", "--session-length", "0"], "from 1 to 168"),
            (["blocks", "--token-limit", "-5"], "--token-limit"),
        ])
    func refused(_ arguments: [String], _ message: String) async throws {
        let home = try ReportHome()
        let outcome = try await home.report(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("days are those of the system's zone, or of the one that is named")
    func zones() async throws {
        let home = try ReportHome()
        // 00:05 in Kathmandu.
        try home.reply("2026-09-17T18:20:00Z", id: "a")
        var other = home.home
        other.variables = ["TZ": "Asia/Kathmandu"]
        let system = try await other.run("usage-push", ["report", "--csv"])
        #expect(system.text.contains("\n2026-09-18,"))
        let named = try await other.run("usage-push", ["report", "--csv", "--tz", "UTC"])
        #expect(named.text.contains("\n2026-09-17,"))
    }

    @Test("on a terminal the titles and the total are bold, unless NO_COLOR is set; elsewhere nothing is")
    func bold() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T10:00:00Z", id: "a")
        for (variables, boldLines) in [([:], ["DAY", "TOTAL"]), (["NO_COLOR": "1"], []), (["TERM": "dumb"], [])] {
            var home = home.home
            home.variables = variables
            let terminal = try PseudoTerminal()
            defer { terminal.closeBoth() }
            terminal.resize(columns: 80, rows: 24)
            let program = try RunningProgram(home, "usage-push", ["report"], terminal: terminal)
            var screen = TerminalScreen(columns: 80, rows: 24) { CellWidth.of($0) }
            await terminal.show(on: &screen) { $0.text.contains(/\nTOTAL .*\$0\.01\n/) }
            #expect(await program.status() == 0)
            let lines = screen.cells.filter { $0.contains { !$0.style.isEmpty } }
            #expect(lines.map { $0.map(\.text).joined().prefix { $0 != " " } } == boldLines.map { $0[...] })
            #expect(lines.joined().allSatisfy { $0.text == " " || $0.style == [1] })
        }
        for arguments in [[], ["--csv"], ["--json"], ["blocks"]] {
            #expect(try await !home.report(arguments).text.contains("\u{1B}"))
        }
    }

    @Test("sums of this user's logs are kept, those of another home are not")
    func cache() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T10:00:00Z", id: "a")
        let other = try ReportHome(TemporaryHome())
        defer { other.home.remove() }
        let outcome = try await other.report("--home", home.home.path, "--csv")
        #expect(outcome.text.contains("\n2026-09-17,"))
        for path in [home.home.path, other.home.path] {
            #expect(!FileManager.default.fileExists(atPath: path + "/.local"))
        }
        let cache = home.home.path + "/.local/state/ubiquity/tokens.cache"
        let first = try await home.report("--csv")
        let bytes = try Data(contentsOf: URL(filePath: cache))
        // Neither the provider nor the day that is asked for changes what is kept.
        for arguments in [[], ["--provider", "codex"], ["--since", "20260918"]] {
            let again = try await home.report(["--csv"] + arguments)
            #expect(again.status == 0)
            if arguments.isEmpty { #expect(again.text == first.text) }
            #expect(try Data(contentsOf: URL(filePath: cache)) == bytes)
        }
        try home.reply("2026-09-18T10:00:00Z", id: "b")
        #expect(try await home.report("--csv").text.contains("\n2026-09-18,"))
    }

    @Test(
        "names from logs reach neither the terminal nor a spreadsheet as they are",
        arguments: ["daily", "session", "blocks"])
    func hostile(_ report: String) async throws {
        let names = [
            "=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\ry", "a,b", "a\"b", "a\"\u{301},\n=1",
            "\u{1B}[31mred", "\u{202E}evil", "a\u{7}b",
        ]
        let dangerous = "\u{1B}\u{202E}\u{7}\t\r".unicodeScalars
        let home = try ReportHome()
        for (index, name) in names.enumerated() {
            try home.reply(
                "2026-09-17T10:00:00Z", id: "m\(index)", model: name, session: name, project: "=x,\"\(index)")
        }
        let text = try await home.report(report, "--breakdown")
        #expect(text.status == 0)
        let shown = (text.text + text.errors).unicodeScalars
        #expect(!shown.contains { dangerous.contains($0) })
        let json = try await home.report(report, "--json")
        #expect(try JSONSerialization.jsonObject(with: json.output) is [String: Any])
        #expect(!json.text.unicodeScalars.contains { dangerous.contains($0) })
        let csv = try await home.report(report, "--csv", "--breakdown")
        let rows = csv.text.split(separator: "\n").map { Self.cells(String($0)) }
        #expect(rows.count == names.count + 1)
        #expect(rows.allSatisfy { $0.count == rows[0].count }, "\(csv.text)")
        #expect(rows.joined().allSatisfy { !"=+-@\t\r".contains($0.first ?? "x") })
    }

    /// The cells of one line of CSV, by scalars as programs read it.
    private static func cells(_ line: String) -> [String] {
        var cells = [""]
        var isQuoted = false
        for scalar in line.unicodeScalars {
            switch scalar {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted: cells.append("")
            default: cells[cells.count - 1].unicodeScalars.append(scalar)
            }
        }
        return cells
    }

    @Test("a model without a price is named in each format, and its sum marked")
    func unpriced() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T10:00:00Z", id: "a")
        try home.reply("2026-09-17T11:00:00Z", id: "b", model: "claude-new")
        try home.reply("2026-09-18T11:00:00Z", id: "c", model: "claude-new")
        let note =
            "not priced: 2,200 of 3,300 tokens (67 %), in 2 requests with claude-new; "
            + "to see all and set prices, run: usage-push prices --unpriced"
        let text = try await home.report("--tz", "UTC")
        let lines = text.text.split(separator: "\n")
        #expect(lines[1].hasSuffix("<$0.01+") && lines[2].hasSuffix("–"))
        #expect(text.text.replacing("\n", with: " ").hasSuffix(note + " "))
        for report in ["daily", "weekly", "monthly", "session", "blocks"] {
            let text = try await home.report(report, "--tz", "UTC")
            #expect(text.text.contains("\nnot priced: 2,200 of 3,300 tokens"), "\(report)")
            for format in ["--json", "--csv"] {
                let outcome = try await home.report(report, "--tz", "UTC", format)
                #expect(outcome.errors == "usage-push: \(note)\n")
            }
            let json = try await home.report(report, "--tz", "UTC", "--json").text
            let part = report == "blocks" ? 1_100 : 2_200
            #expect(json.contains("\"unpricedTokens\" : \(part)"), "\(json)")
            #expect(json.contains("\"unpricedShare\" : 1"))
            let csv = try await home.report(report, "--tz", "UTC", "--csv").text
            #expect(csv.contains("costUSD,requestsWithoutPrice,tokensWithoutPrice,share"))
            let cells = ["daily", "blocks"].contains(report) ? ",1,1100,1.000000" : ",2,2200,0.666667"
            #expect(csv.contains(cells), "\(csv)")
        }
    }

    @Test("records that cannot be are counted on standard error, without a bar in a pipe")
    func leftOut() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T10:00:00Z", id: "a")
        try home.reply("2026-09-17T10:00:00Z", id: "c", input: 1 << 40)
        let outcome = try await home.report("--json")
        #expect(outcome.errors.contains("skipped 1 invalid record in 1 file"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test("the shell completes reports and their options")
    func completion() async throws {
        let home = try ReportHome()
        let script = try await home.home.run("usage-push", ["--generate-completion-script", "bash"])
        #expect(script.text.contains("--token-limit") && script.text.contains("report_blocks"))
    }
}
