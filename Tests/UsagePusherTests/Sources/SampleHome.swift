import Foundation
import LocalFiles
import SnapshotModels
import StoreTestSupport
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// The time of all expectations about the sample homes: 2026-09-18T12:00:00Z.
let sampleNow = Date(timeIntervalSince1970: 1_789_732_800)

func utc(_ text: String) -> Date { JSONFields.date(text: text)! }

/// A temporary home directory, removed with its last reference.
final class SampleHome {
    let path: String

    /// A file "tool.db.sql" becomes the database "tool.db".
    ///
    /// - Parameter name: "codex/usual" to copy fixtures/sources/codex/homes/usual; nil for an empty
    ///   home.
    init(copying name: String? = nil) throws {
        let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("sample-home-" + UUID().uuidString).path
        path = directory
        try createDirectory("")
        guard let name else { return }
        let source = Self.fixture(name.replacing("/", with: "/homes/"))
        for relative in try FileManager.default.subpathsOfDirectory(atPath: source) {
            let original = source + "/" + relative
            if try FileStatus(path: original)?.kind == .directory {
                try createDirectory(relative)
            } else if relative.hasSuffix(".sql") {
                guard SQLiteLibrary.installed != nil else { continue }
                try writeDatabase(
                    String(relative.dropLast(".sql".count)),
                    String(contentsOfFile: original, encoding: .utf8))
            } else {
                try write(relative, Data(contentsOf: URL(fileURLWithPath: original)))
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    static func fixture(_ name: String) -> String {
        Repository.fixtures.appending(path: "sources/" + name).path
    }

    /// An environment whose clock stands still: a busy machine does not change the result.
    func environment(
        _ variables: [String: String] = [:], limits: ScanLimits = ScanLimits(), explains: Bool = false
    ) -> SourceEnvironment {
        var environment = SourceEnvironment(home: path, variables: variables, limits: limits)
        environment.monotonicSeconds = { 0 }
        environment.explains = explains
        return environment
    }

    /// What a source that has read nothing yet says of this home, with explanations.
    func reading(
        of source: any UsageSource, _ variables: [String: String] = [:], at now: Date = sampleNow
    ) -> SourceReading {
        var source = source
        return source.read(in: environment(variables, explains: true), at: now)
    }

    /// The card of the account that is logged in.
    func card(
        of source: any UsageSource, _ variables: [String: String] = [:], at now: Date = sampleNow
    ) throws -> ProviderUsageSnapshot {
        try #require(reading(of: source, variables, at: now).provider)
    }

    func path(_ relative: String) -> String { path + "/" + relative }

    @discardableResult
    func write(_ relative: String, _ text: String, modified: Date = sampleNow) throws -> String {
        try write(relative, Data(text.utf8), modified: modified)
    }

    @discardableResult
    func write(_ relative: String, _ bytes: Data, modified: Date = sampleNow) throws -> String {
        let target = path(relative)
        try createDirectory((relative as NSString).deletingLastPathComponent)
        try bytes.write(to: URL(fileURLWithPath: target))
        try touch(relative, modified)
        return target
    }

    @discardableResult
    func writeDatabase(_ relative: String, _ sql: String, modified: Date = sampleNow) throws -> String {
        try createDirectory((relative as NSString).deletingLastPathComponent)
        _ = try WrittenDatabase(path(relative), sql)
        try touch(relative, modified)
        return path(relative)
    }

    func append(_ relative: String, _ text: String, modified: Date = sampleNow) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path(relative)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
        try touch(relative, modified)
    }

    func touch(_ relative: String, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path(relative))
    }

    func remove(_ relative: String) throws { try FileManager.default.removeItem(atPath: path(relative)) }

    func createDirectory(_ relative: String) throws {
        try FileManager.default.createDirectory(atPath: path(relative), withIntermediateDirectories: true)
    }

    func link(_ relative: String, to target: String) throws {
        try createDirectory((relative as NSString).deletingLastPathComponent)
        try FileManager.default.createSymbolicLink(atPath: path(relative), withDestinationPath: target)
    }
}

extension UsageSource {
    mutating func read(_ home: SampleHome, limits: ScanLimits = ScanLimits(), at now: Date = sampleNow) -> SourceReading
    {
        read(in: home.environment(limits: limits), at: now)
    }
}

extension ProviderUsageSnapshot {
    var percents: [Double] { windows.map(\.usedPercent) }
}

extension SourceReading {
    var percents: [Double]? { provider?.percents }
}

/// A budget whose clock stands still.
func stillBudget(_ limits: ScanLimits = ScanLimits()) -> ScanBudget {
    ScanBudget(limits: limits, monotonicSeconds: { 0 })
}
