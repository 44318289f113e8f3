import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// `UPDATE_REPORTS=1 swift test` rewrites fixtures/reports; review the diff.
@Suite("Stored reports", .temporaryHome, .timeLimit(.minutes(5)))
struct StoredReportTests {
    struct Stored: CustomTestStringConvertible, Sendable {
        var name: String
        var arguments: [String]

        init(_ name: String, _ arguments: String...) {
            self.name = name
            self.arguments = arguments
        }

        var testDescription: String { name }
        /// The tool whose sample home is read.
        var home: String { name.contains("codex") ? "codex" : "claude" }
    }

    private static let stored: [Stored] =
        ["daily", "weekly", "monthly", "session", "blocks"].flatMap { report in
            [
                Stored(report + ".txt", report),
                Stored(report + ".json", report, "--json"),
                Stored(report + ".csv", report, "--csv"),
                Stored(report + "-models.txt", report, "--breakdown"),
            ]
        } + [
            Stored("daily-models.csv", "daily", "--csv", "--breakdown"),
            Stored("daily-compact.txt", "daily", "--compact"),
            Stored("daily-claude.json", "daily", "--json", "--provider", "claude"),
            Stored("daily-claude-projects.json", "daily", "--json", "--provider", "claude", "--instances"),
            Stored(
                "weekly-claude-sunday.json", "weekly", "--json", "--provider", "claude", "--start-of-week", "sunday"),
            Stored("session-claude.json", "session", "--json", "--provider", "claude"),
            // Later than what is in a compressed rollout, which not every machine reads.
            Stored("daily-codex.json", "daily", "--json", "--provider", "codex", "--since", "20260910"),
            Stored("session-codex.json", "session", "--json", "--provider", "codex", "--since", "20260910"),
            Stored("daily-codex-unpriced.txt", "daily", "--since", "20260910"),
            Stored("empty.json", "daily", "--json", "--since", "20990101"),
            Stored("empty.csv", "daily", "--csv", "--since", "20990101"),
        ]

    @Test("a report of a sample home is as it is stored", arguments: stored)
    func report(_ stored: Stored) async throws {
        let home = try ReportHome()
        let sample = Repository.fixtures.appending(path: "sources/\(stored.home)/homes/usual").path
        let outcome = try await home.report(stored.arguments + ["--tz", "UTC", "--home", sample])
        #expect(outcome.status == 0, "\(outcome.errors)")
        try Repository.expect(outcome.output, equals: "reports/" + stored.name, update: "UPDATE_REPORTS")
    }
}
