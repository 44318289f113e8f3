import Foundation
import TestSupport
import Testing
import UsageState

/// Real programs of two machines, a daemon, and logs that are copied, resumed and deleted.
@Suite("The ledger of an account's machines", .temporaryHome, .timeLimit(.minutes(5)))
struct LedgerTests {
    private struct Totals: Decodable, Equatable {
        struct Sum: Decodable, Equatable {
            var totalTokens: Int
            var totalCost: Double
        }

        struct Row: Decodable, Equatable {
            var period: String
            var totalTokens: Int
            var totalCost: Double
        }

        var daily: [Row]
        var totals: Sum

        /// Costs in cents: the ledger rounds them to 10⁻⁹ dollars.
        var rounded: Totals {
            var rounded = self
            func cents(_ dollars: Double) -> Double { (dollars * 100).rounded() / 100 }
            rounded.totals.totalCost = cents(totals.totalCost)
            rounded.daily = daily.map { row in
                var row = row
                row.totalCost = cents(row.totalCost)
                return row
            }
            return rounded
        }
    }

    private struct Exported: Decodable {
        struct Value: Decodable {
            var value: Data
        }

        var values: [Value]
    }

    private func report(_ program: String, _ home: TemporaryHome) async throws -> Totals {
        let outcome = try await home.run(program, ["report", "daily", "--json", "--tz", "UTC"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Totals.self, from: Data(outcome.text.utf8)).rounded
    }

    private func push(_ home: TemporaryHome) async throws {
        let outcome = try await home.run("usage-push", [])
        try #require(outcome.status == 0 || outcome.errors.contains("nothing to push"), "\(outcome.errors)")
    }

    /// A line of Claude Code for a request.
    private func request(_ id: String, _ time: String, _ tokens: Int) -> String {
        #"{"type":"assistant","timestamp":"\#(time)","sessionId":"s1","requestId":"req_\#(id)","message":{"id":"msg_\#(id)","#
            + #""model":"claude-sonnet-5","usage":{"input_tokens":10,"output_tokens":\#(tokens)}}}"# + "\n"
    }

    private let log = ".claude/projects/-src-app/s1.jsonl"

    @Test("days stay known when their logs are deleted, and what is copied or resumed elsewhere counts once")
    func machines() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            let now = Date()
            let today = now.formatted(.iso8601)
            let lines =
                request("a", "2025-03-05T09:00:00Z", 700_000)
                + request("b", now.addingTimeInterval(-60 * 86_400).formatted(.iso8601), 300_000)
                + request("c", today, 20_000)
            try homes[0].file(log, lines)
            try await push(homes[0])
            let first = try await report("usage-push", homes[0])
            #expect(first.daily.count == 3)
            for home in homes { #expect(try await report("usage-view", home) == first) }

            // A home is copied, with an answer that is not complete, and both go on.
            try homes[1].file(log, lines.replacing("20000", with: "9000") + request("e", today, 40_000))
            try homes[0].file(log, lines + request("d", today, 30_000))
            for _ in 0..<2 { for home in homes { try await push(home) } }
            var expected = first
            expected.daily[2].totalTokens += 70_020
            expected.totals.totalTokens += 70_020
            for home in homes {
                let told = try await report("usage-view", home)
                #expect(told.daily.map(\.totalTokens) == expected.daily.map(\.totalTokens))
                #expect(told.totals.totalTokens == expected.totals.totalTokens)
            }

            let all = try await report("usage-view", homes[0])
            for home in homes {
                try FileManager.default.removeItem(atPath: home.path + "/" + log)
                try await push(home)
            }
            for home in homes { #expect(try await report("usage-view", home) == all) }
            // The screens have the year, without the day before it.
            for home in homes {
                let stored = try await home.run("kvs", ["get", UsageYear.storeKey]).text
                let year = try #require(UsageYear(stored: Data(stored.utf8)), "\(stored)")
                #expect(year.days.reduce(0) { $0 + year[$1].tokens } == 390_000)
            }
        }
    }

    @Test("past usage is pushed also if all of it is too old for a snapshot, and what is dated in the future is named")
    func oldUsage() async throws {
        let home = TemporaryHome.ofTest
        let future = Date().addingTimeInterval(30 * 86_400).formatted(.iso8601)
        let lines = request("a", "2025-03-05T09:00:00Z", 700_000)
        try home.file(log, lines)
        #expect(try await home.output("usage-push", []).contains("pushed past usage"))
        let all = try await report("usage-view", home)
        #expect(try await report("usage-push", home) == all && all.daily.count == 1)
        try home.file(log, lines + request("b", future, 20_000))
        for arguments in [[], ["report"]] {
            let outcome = try await home.run("usage-push", arguments)
            #expect(outcome.status == 0 && outcome.errors.contains("1 request is dated in the future"))
        }
        #expect(try await report("usage-view", home) == all)
        try FileManager.default.removeItem(atPath: home.path + "/" + log)
        #expect(try await home.run("usage-push", []).status == 66)
        #expect(try await report("usage-view", home) == all)
    }

    @Test("what a push has seen on one day and finds on another one counts there alone, as long as the cache tells")
    func moves() async throws {
        let home = TemporaryHome.ofTest
        let (first, last) = (-2 * 86_400.0, -86_400.0)
        func time(_ seconds: Double) -> String { Date().addingTimeInterval(seconds).formatted(.iso8601) }
        let directory = ".factory/sessions/-src-app/s1"
        for (days, tokens) in [([first], 1_000), ([first, last], 3_000)] {
            try home.file(
                directory + ".settings.json",
                #"{"model":"claude-sonnet-5","tokenUsage":{"inputTokens":\#(tokens),"outputTokens":1}}"#)
            let messages = days.map { day in
                #"{"type":"message","id":"m\#(day)","timestamp":"\#(time(day))","message":{"role":"assistant","content":[]}}"#
                    + "\n"
            }
            try home.file(
                directory + ".jsonl",
                #"{"type":"session_start","id":"s1","cwd":"/src/app"}"# + "\n" + messages.joined())
            try await push(home)
        }
        #expect(try await report("usage-view", home).totals.totalTokens == 3_001)
        #expect(try await report("usage-push", home) == report("usage-view", home))
        // Neither what is deleted nor what a lost cache knew is taken back.
        for path in [directory + ".settings.json", directory + ".jsonl", ".local/state/ubiquity/tokens.cache"] {
            try FileManager.default.removeItem(atPath: home.path + "/" + path)
            try home.file(log, request(path, time(0), 10))
            try await push(home)
            #expect(try await report("usage-view", home).totals.totalTokens >= 3_001)
        }
    }

    @Test(
        "a price that is corrected changes what is cached with the next push, and what is asked with --reprice at once")
    func correctedPrices() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            let lines =
                request("a", "2025-03-05T09:00:00Z", 700_000) + request("c", Date().formatted(.iso8601), 200_000)
            try homes[0].file(log, lines)
            try await push(homes[0])
            func costs(_ arguments: String...) async throws -> [Double] {
                let text = try await homes[1].output("usage-view", ["report", "monthly", "--json"] + arguments)
                return try JSONDecoder().decode(Monthly.self, from: Data(text.utf8)).monthly.map {
                    ($0.totalCost * 100).rounded() / 100
                }
            }
            #expect(try await costs() == [7, 2])
            #expect(try await costs("--reprice") == [7, 2])

            let prices = #"{"models":{"claude-sonnet-5":{"input":0,"output":20}}}"#
            for home in homes { try home.file(".config/ubiquity/prices.json", prices) }
            #expect(try await costs() == [7, 2])
            #expect(try await costs("--reprice") == [14, 4])
            try await push(homes[0])
            #expect(try await costs() == [7, 4])
            #expect(try await costs("--reprice") == [14, 4])
            #expect(
                try await homes[1].output("usage-view", ["report", "daily", "--reprice"])
                    .contains("1 request keeps the cost that was recorded"))
            let recent = ["report", "daily", "--reprice", "--since", "2026-01-01"]
            #expect(try await !homes[1].output("usage-view", recent).contains("incomplete"))
        }
    }

    private struct Monthly: Decodable {
        struct Row: Decodable {
            var totalCost: Double
        }

        var monthly: [Row]
    }

    @Test("sealed names of projects are known on another machine with the content key, and not in the store")
    func sealedNames() async throws {
        try await PairedDaemon.withMachines(2) { homes, _ in
            let now = Date().formatted(.iso8601)
            try homes[0].file(log, request("a", now, 20_000))
            _ = try await homes[0].output("usage-push", ["config", "ledger", "--projects", "sealed"])
            let pushed = try await homes[0].run("usage-push", [])
            #expect(
                pushed.status == 0 && pushed.errors.contains("names of projects are not shared"), "\(pushed.errors)")

            _ = try await homes[0].output("kvs", ["seal", "create"])
            let words = try await homes[0].output("kvs", ["seal", "show"])
            _ = try await homes[1].output("kvs", ["seal", "join"], input: words)
            try homes[0].file(log, request("a", now, 20_000) + request("b", now, 30_000))
            _ = try await homes[0].output("usage-push", [])
            #expect(try await homes[1].output("usage-view", ["report", "project"]).contains("-src-app"))
            let exported = try await homes[1].output("kvs", ["export", "--store", "usage-ledger"])
            let values = try JSONDecoder().decode(Exported.self, from: Data(exported.utf8)).values
            #expect(values.count == 2 && !values.contains { $0.value.firstRange(of: Data("src-app".utf8)) != nil })
        }
    }

    @Test("what is shared of projects is what the user wants, and nothing when it is switched off")
    func disclosure() async throws {
        let home = TemporaryHome.ofTest
        try home.file("src/app/.git/config", "[remote \"origin\"]\n\turl = git@example.com:owner/app.git\n")
        func write(_ id: String) throws {
            try home.file(
                ".codex/sessions/2026/11/20/rollout-\(id).jsonl",
                #"{"timestamp":"2026-11-20T09:00:00Z","type":"session_meta","payload":{"id":"\#(id)","cwd":"\#(home.path)/src/app"}}"#
                    + "\n"
                    + #"{"timestamp":"2026-11-20T09:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"#
                    + #""total_token_usage":{"input_tokens":1000,"output_tokens":50,"total_tokens":1050},"#
                    + #""last_token_usage":{"input_tokens":1000,"output_tokens":50,"total_tokens":1050}}}}"# + "\n")
        }
        func stored() throws -> String {
            let store = home.path + "/.local/share/ubiquity"
            let files = FileManager.default.subpaths(atPath: store) ?? []
            return files.filter { $0.contains("usage-ledger") }.reduce(into: "") { text, file in
                let data = FileManager.default.contents(atPath: store + "/" + file) ?? Data()
                text += String(decoding: data, as: Unicode.ASCII.self)
            }
        }
        try write("s1")
        try await push(home)
        #expect(try !stored().isEmpty && !stored().contains("owner/app"))
        let named = try await home.run("usage-view", ["report", "project"])
        #expect(named.text.contains("owner/app"), "\(named.text)")

        var outcome = try await home.run("usage-push", ["config", "ledger", "--projects", "named"])
        #expect(outcome.text == "past usage is shared, with projects named\n")
        try write("s2")
        try await push(home)
        #expect(try stored().contains("owner/app"))

        outcome = try await home.run("usage-push", ["config", "ledger", "--no-share"])
        #expect(outcome.text == "past usage is not shared\n")
        let before = try await home.run("usage-view", ["report", "--json"]).text
        try write("s3")
        try await push(home)
        #expect(try await home.run("usage-view", ["report", "--json"]).text == before)
    }
}
