import Foundation
import TestSupport
import Testing

/// Real programs of two machines and a daemon.
@Suite("Imports of other counters' reports", .temporaryHome, .timeLimit(.minutes(5)))
struct ImportTests {
    private struct Report: Decodable {
        struct Row: Decodable, Equatable {
            var period: String
            var totalTokens: Int
            var importedTokens: Int?
        }

        var daily: [Row]
        var importedDays: Int?
    }

    private func days(_ home: TemporaryHome) async throws -> [String: Int] {
        try await report(home).daily.reduce(into: [:]) { $0[$1.period] = $1.totalTokens }
    }

    private func report(_ home: TemporaryHome) async throws -> Report {
        let outcome = try await home.run("usage-view", ["report", "daily", "--json", "--tz", "UTC"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        var report = try JSONDecoder().decode(Report.self, from: Data(outcome.text.utf8))
        // Without what is used today, see `push`.
        report.daily.removeAll { $0.period > "2026-05-31" }
        return report
    }

    /// A report of ccusage with a row of a thousand tokens for each day.
    private func ccusage(_ days: String...) -> String {
        #"{"daily": ["#
            + days.map {
                #"{"date": "\#($0)", "inputTokens": 200, "outputTokens": 800, "totalTokens": 1000, "totalCost": 0.5,"#
                    + #" "modelBreakdowns": [{"modelName": "sonnet", "inputTokens": 200, "outputTokens": 800, "cost": 0.5}]}"#
            }.joined(separator: ",") + "]}"
    }

    private func log(_ day: String, _ home: TemporaryHome) throws {
        try home.file(
            ".claude/projects/-src-app/\(day).jsonl",
            #"{"type":"assistant","timestamp":"\#(day)T00:00:00Z","sessionId":"\#(day)","requestId":"req","message":{"#
                + #""id":"msg","model":"claude-sonnet-5","usage":{"input_tokens":10,"output_tokens":70}}}"# + "\n")
    }

    /// With something of today, without which there is nothing to push.
    private func push(_ home: TemporaryHome) async throws {
        try log(String(Date().formatted(.iso8601).prefix(10)), home)
        let outcome = try await home.run("usage-push", [])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("an imported day counts on all machines, once, and no longer when logs of it appear")
    func machines() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            try log("2026-05-03", homes[0])
            try await push(homes[0])
            let file = ccusage("2026-05-01", "2026-05-02", "2026-05-03")
            for home in homes { try home.file("old.json", file) }
            let dry = try await homes[0].run("usage-push", ["import", "--dry-run", homes[0].path + "/old.json"])
            #expect(
                dry.text == """
                    would be imported: 2 days of claude from 2026-05-01 to 2026-05-02, 2,000 tokens, $1.00
                    left out, as logs cover them: 1 day of claude from 2026-05-03 to 2026-05-03, 1,000 tokens, $0.50

                    """, "\(dry.errors)")
            #expect(try await days(homes[0]) == ["2026-05-03": 80])

            let first = try await homes[0].run("usage-push", ["import", homes[0].path + "/old.json"])
            #expect(first.status == 0 && first.text.hasPrefix("imported: 2 days of claude"), "\(first.errors)")
            let second = try await homes[1].run("usage-push", ["import", "--json", "-"], input: Data(file.utf8))
            #expect(
                second.status == 0 && second.text.contains("\"known\" : {\n    \"days\" : 2"),
                "\(second.text)\(second.errors)")
            let expected = ["2026-05-01": 1_000, "2026-05-02": 1_000, "2026-05-03": 80]
            for home in homes {
                #expect(try await days(home) == expected)
                #expect(try await report(home).importedDays == 2)
            }
            #expect(try await report(homes[1]).daily.map(\.importedTokens) == [1_000, 1_000, nil])
            let table = try await homes[1].run("usage-view", ["report", "--tz", "UTC"]).text
            #expect(
                table.contains("2026-05-01 *") && table.contains("* 2 days are imported: 2,000 of 2,160"), "\(table)")

            // A pusher leaves imports as they are, and logs that appear count in their place.
            try log("2026-05-02", homes[1])
            for home in homes.reversed() { try await push(home) }
            let later = ["2026-05-01": 1_000, "2026-05-02": 80, "2026-05-03": 80]
            for home in homes { #expect(try await days(home) == later) }

            // It is gone on all machines, as the other one had nothing to add.
            let outcome = try await homes[0].run("usage-push", ["import", "--remove"])
            #expect(outcome.text.hasPrefix("removed: 2 days of claude"), "\(outcome.text)\(outcome.errors)")
            for home in homes { #expect(try await days(home) == ["2026-05-02": 80, "2026-05-03": 80]) }
        }
    }

    @Test("a report that cannot be imported is refused by file, place and value, and nothing is stored")
    func refused() async throws {
        let home = TemporaryHome.ofTest
        let path = try home.file("bad.json", ccusage("2026-05-01", "2026-02-30"))
        var outcome = try await home.run("usage-push", ["import", path])
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("bad.json: daily[1].date: \"2026-02-30\" is no day"), "\(outcome.errors)")
        let monthly = try home.file("monthly.json", #"{"monthly": []}"#)
        outcome = try await home.run("usage-push", ["import", monthly, path])
        #expect(outcome.status == 65 && outcome.errors.contains("states months"), "\(outcome.errors)")
        outcome = try await home.run("usage-push", ["import"])
        #expect(outcome.status == 64)
        let listed = try await home.kvs("ls", "--store", "usage-ledger")
        #expect(listed.status == 0 && listed.text.isEmpty, "\(listed.text)\(listed.errors)")
    }

    @Test("a store without room takes nothing of an import, and says so")
    func fullStore() async throws {
        let home = TemporaryHome.ofTest
        try home.file("filler", String(repeating: "x", count: 1_048_000))
        let filled = try await home.kvs(
            "set", "--store", "usage-ledger", "--data-file", home.path + "/filler", "filler")
        try #require(filled.status == 0, "\(filled.errors)")
        // Several months, and some of them alone would have room.
        let days = (0..<48).map { "20\(22 + $0 / 12)-\($0 % 12 < 9 ? "0" : "")\($0 % 12 + 1)-01" }
        let rows = days.map { ccusage($0).dropFirst(#"{"daily": ["#.count).dropLast(2) }.joined(separator: ",")
        let path = try home.file("old.json", #"{"daily": ["# + rows + "]}")
        let outcome = try await home.run("usage-push", ["import", path])
        #expect(outcome.status == 74)
        #expect(outcome.errors.contains("nothing is imported: the import takes"), "\(outcome.errors)")
        let listed = try await home.kvs("ls", "--store", "usage-ledger").text
        #expect(listed.contains("filler") && !listed.contains("import."), "\(listed)")
    }
}
