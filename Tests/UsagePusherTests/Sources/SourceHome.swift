import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

/// A home directory under fixtures/sources, with what its tool's source must say of it.
struct SourceHome: CustomTestStringConvertible, Sendable {
    let providerID: String
    let name: String

    /// "codex/usual".
    var testDescription: String { "\(providerID)/\(name)" }

    /// The homes of every source; a source without any fails.
    static let all: [SourceHome] = UsageSources.all.flatMap { source in
        let directory = SampleHome.fixture(source.providerID + "/homes")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        precondition(!names.isEmpty, "\(directory) contains no home directory")
        return names.sorted().map { SourceHome(providerID: source.providerID, name: $0) }
    }

    /// A file that states what must be read.
    var expectation: URL {
        URL(fileURLWithPath: SampleHome.fixture("\(providerID)/expected/\(name).txt"))
    }

    /// The reading of a copy of the home: the cards as they are pushed, the findings, every reading with its verdict, and
    /// the tokens.
    func outcome() throws -> String {
        let home = try SampleHome(copying: testDescription)
        var environment = home.environment()
        environment.explains = true
        var source = try #require(UsageSources.all.first { $0.providerID == providerID })
        let reading = source.read(in: environment, at: sampleNow)
        let lines =
            try reading.providers.map(Self.document)
            + reading.findings.map { finding in
                let certainty = finding.certainty?.rawValue ?? "no number"
                let time = finding.observedAt.map { ", \($0.formatted(.iso8601))" } ?? ""
                return
                    "\(finding.path): \(finding.title), \(certainty)\(time)\n    \(finding.detail)"
            }
            + reading.considered.map { reading in
                "\(reading.isShown ? "shown" : "not shown"): \(reading.limit): \(reading.statement)\n"
                    + "    \(reading.reason)\n"
                    + "    \(reading.observedAt.formatted(.iso8601)), \(reading.account ?? "no account named")\n"
                    + "    \(reading.path)\(reading.offset.map { " at byte \($0)" } ?? "")"
            }
        let tokens = source is any TokenRecording ? home.tokens(of: providerID) : []
        let state =
            (reading.isInstalled ? "installed" : "not installed")
            + (reading.isPartial ? ", read in part" : "")
        return ([state] + lines + tokens).joined(separator: "\n").replacing(home.path, with: "~")
            + "\n"
    }

    private static func document(of card: ProviderUsageSnapshot) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(card), as: UTF8.self)
    }
}
