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

    var needsSQLite: Bool { has(".sql") }
    var needsZstandard: Bool { providerID == "zed" || has(".zst") }

    private func has(_ suffix: String) -> Bool {
        let names = try? FileManager.default.subpathsOfDirectory(
            atPath: SampleHome.fixture("\(providerID)/homes/\(name)"))
        return names?.contains { $0.hasSuffix(suffix) } ?? false
    }

    /// The reading of a copy of the home: the cards as they are pushed, the findings, every reading with its verdict,
    /// and the tokens.
    func outcome() throws -> String {
        try reading(of: SampleHome(copying: testDescription), withOffsets: true)
    }

    /// The same of any home.
    ///
    /// - Parameter withOffsets: whether also where in its file each reading is.
    func reading(of home: SampleHome, withOffsets: Bool = false) throws -> String {
        var reader = try makeReader(of: home)
        return try reader.read(withOffsets: withOffsets)
    }

    /// - Parameter state: where the sums of tokens are kept from one reading to the next.
    func makeReader(of home: SampleHome, keepingIn state: SampleHome? = nil) throws -> Reader {
        let source = try #require(UsageSources.all.first { $0.providerID == providerID })
        return Reader(home: home, state: state, source: source)
    }

    /// Reads a home again and again, as its source does.
    struct Reader {
        fileprivate let home: SampleHome
        fileprivate let state: SampleHome?
        fileprivate var source: any UsageSource

        mutating func read(withOffsets: Bool = false) throws -> String {
            var environment = home.environment()
            environment.explains = true
            let reading = source.read(in: environment, at: sampleNow)
            let lines =
                try reading.providers.map(SourceHome.document)
                + reading.findings.map { finding in
                    let certainty = finding.certainty?.rawValue ?? "no number"
                    let time = finding.observedAt.map { ", \($0.formatted(.iso8601))" } ?? ""
                    return "\(finding.path): \(finding.title), \(certainty)\(time)\n    \(finding.detail)"
                }
                + reading.considered.map { reading in
                    let offset = withOffsets ? reading.offset : nil
                    return
                        "\(reading.isShown ? "shown" : "not shown"): \(reading.limit): \(reading.statement)\n"
                        + "    \(reading.reason)\n"
                        + "    \(reading.observedAt.formatted(.iso8601)), \(reading.account ?? "no account named")\n"
                        + "    \(reading.path)\(offset.map { " at byte \($0)" } ?? "")"
                }
            let tokens =
                source is any TokenRecording
                ? home.tokens(of: source.providerID, keepingIn: state) : []
            let state =
                (reading.isInstalled ? "installed" : "not installed")
                + (reading.isPartial ? ", read in part" : "")
            return ([state] + lines + tokens).joined(separator: "\n").replacing(home.path, with: "~") + "\n"
        }
    }

    fileprivate static func document(of card: ProviderUsageSnapshot) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(card), as: UTF8.self)
    }
}
