import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// Every home of every tool with one of its files or directories unreadable, one after the other. What the complete
/// home stated with it must then be said to be missing, and nothing must be said that the complete home did not say.
@Suite("Homes of which a part cannot be read", .timeLimit(.minutes(10)))
struct UnreadableHomeTests {
    private enum Obstacle: CaseIterable {
        /// No permission, for everything that is read on this thread.
        case denied
        /// A link that leads to itself, for every thread.
        case loop

        /// Puts itself at the path, calls `body`, and brings back what was there.
        func stand<Result>(at path: String, _ body: () throws -> Result) throws -> Result {
            switch self {
            case .denied:
                let permissions = try #require(try FileStatus(path: path)).permissions
                chmod(path, 0)
                defer { chmod(path, mode_t(permissions)) }
                return try withoutPrivileges(body)
            case .loop:
                return try without(path) {
                    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
                    defer { unlink(path) }
                    return try body()
                }
            }
        }
    }

    /// Removes what is at the path while `body` runs.
    private static func without<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let aside = NSTemporaryDirectory() + "/aside-" + UUID().uuidString
        try #require(rename(path, aside) == 0)
        defer { rename(aside, path) }
        return try body()
    }

    /// What a user gets to see of a tool.
    private struct Outcome: Equatable {
        var cards: [ProviderUsageSnapshot]
        var findings: [SourceFinding]
        var isIncomplete: Bool
        /// Whether the tool is known to be there: without, nothing is pushed about it.
        var isInstalled: Bool
    }

    private func outcome(of providerID: String, in home: SampleHome) throws -> Outcome {
        let source = try #require(UsageSources.all.first { $0.providerID == providerID })
        var builder = SnapshotBuilder(
            sources: [source], environment: home.environment(), device: DeviceIdentity(id: nil, name: "test"))
        builder.includeCosts(prices: .packaged)
        builder.readThoroughly(at: sampleNow)
        return Outcome(
            cards: builder.snapshot(at: sampleNow)?.providers ?? [],
            findings: builder.reports[0].reading?.findings ?? [],
            isIncomplete: !builder.gaps.isEmpty,
            isInstalled: builder.reports[0].reading?.isInstalled == true)
    }

    @Test("is said on the card, in the findings and of the push", arguments: SourceHome.all)
    func unreadable(_ sample: SourceHome) throws {
        guard SQLiteLibrary.installed != nil else { return }
        let home = try SampleHome(copying: sample.testDescription)
        func outcome() throws -> Outcome { try self.outcome(of: sample.providerID, in: home) }
        let complete = try outcome()
        let said = Set(complete.cards.compactMap(\.statusMessage))
        let details = Set(complete.findings.map(\.detail))
        for relative in try FileManager.default.subpathsOfDirectory(atPath: home.path).sorted() {
            let path = home.path(relative)
            let removed = try Self.without(path, outcome)
            for obstacle in Obstacle.allCases {
                let hindered = try obstacle.stand(at: path, outcome)
                let place: Comment = "\(relative), \(obstacle)"
                // Tokens are read on other threads too, which may read it.
                let isMissed = obstacle == .loop ? removed != complete : hindered != complete
                if isMissed {
                    #expect(hindered.isIncomplete, place)
                    #expect(
                        complete.cards.isEmpty || !hindered.isInstalled
                            || hindered.cards.contains { $0.saysItIsIncomplete },
                        place)
                }
                for card in hindered.cards where !card.saysItIsIncomplete {
                    #expect(card.statusMessage.map(said.contains) ?? true, place)
                }
                for finding in hindered.findings
                where !finding.isError && finding.certainty == nil && finding.observedAt == nil {
                    #expect(
                        details.contains(finding.detail) || finding.detail.contains("could be read"),
                        "\(place): \(finding.detail)")
                }
                #expect(!hindered.cards.contains { $0.claimsReset }, place)
            }
        }
    }

    /// What is wrong with a database that its tool keeps.
    private enum DatabaseFault: CaseIterable {
        /// A transaction is being written, or was interrupted.
        case inUse
        /// Other tables than are known.
        case otherTables
        /// The tables that are known, with other columns.
        case otherColumns
        /// The first page is there, and nothing of what it refers to.
        case truncated
        case noDatabase

        func occur(in home: SampleHome, at relative: String, tables: [String]) throws {
            let path = home.path(relative)
            func rewrite(_ sql: String) throws {
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                try home.writeDatabase(relative, sql)
            }
            switch self {
            case .inUse: try home.write(relative + "-journal", "x")
            case .otherTables: try rewrite("CREATE TABLE invented (a);")
            case .otherColumns:
                try rewrite(tables.map { "CREATE TABLE \($0) (invented);" }.joined())
            case .truncated:
                for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
                try home.write(relative, Data(contentsOf: URL(filePath: path)).prefix(1_000))
            case .noDatabase: try home.write(relative, "no database")
            }
        }
    }

    @Test("a database that cannot be used is said too", arguments: SourceHome.all)
    func databases(_ sample: SourceHome) throws {
        guard SQLiteLibrary.installed != nil else { return }
        let fixture = SampleHome.fixture("\(sample.providerID)/homes/\(sample.name)")
        let scripts = try FileManager.default.subpathsOfDirectory(atPath: fixture).filter { $0.hasSuffix(".sql") }
        for script in scripts {
            let sql = try String(contentsOfFile: fixture + "/" + script, encoding: .utf8)
            let tables = sql.matches(of: /CREATE TABLE (?:IF NOT EXISTS )?["`]?(\w+)/).map {
                String($0.1)
            }
            for fault in DatabaseFault.allCases {
                let home = try SampleHome(copying: sample.testDescription)
                let complete = try outcome(of: sample.providerID, in: home)
                guard !complete.cards.isEmpty else { continue }
                try fault.occur(in: home, at: String(script.dropLast(4)), tables: tables)
                let hindered = try outcome(of: sample.providerID, in: home)
                let place: Comment = "\(script), \(fault)"
                #expect(hindered.isIncomplete, place)
                #expect(!hindered.isInstalled || hindered.cards.contains { $0.saysItIsIncomplete }, place)
            }
        }
    }
}

extension ProviderUsageSnapshot {
    fileprivate var saysItIsIncomplete: Bool {
        isError || statusMessage?.contains("may be missing") == true
            || costSummary?.historyCoverageIsEstablished == false
    }

    fileprivate var claimsReset: Bool {
        isIncomplete && statusMessage?.contains("reset since") == true
    }
}
