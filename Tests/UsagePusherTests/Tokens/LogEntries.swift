import Foundation
import LocalFiles

@testable import UsagePusher

/// The entries that a log's readers add, without the ledger.
final class LogEntries {
    private(set) var entries: [TokenEntry] = []
    private(set) var leftOutCount = 0
    private(set) var issues: [String] = []
    private let names = TokenNames()
    private let source: String

    init(_ log: any TokenLog) { source = log.source }

    /// The files of a log as the ledger finds them.
    static func files(of log: any TokenLog, in environment: SourceEnvironment) -> [TokenFile] {
        var budget = ScanBudget(limits: environment.limits, monotonicSeconds: { 0 })
        let roots = log.roots(in: environment)
        let walk = DirectoryWalk(
            roots: roots, budget: &budget, acceptsFiles: true, isEntered: log.isEntered, isWanted: log.isWanted)
        return walk.files.map { TokenFile(path: $0.path, root: roots[$0.root]) }.sorted { $0.path < $1.path }
    }

    /// Reads a file, or bytes in its place where the reader does not open it itself.
    func read(_ file: TokenFile, of log: any TokenLog, as bytes: [UInt8]? = nil) throws {
        guard let reader = log.reader(of: file) else { return }
        var sink = TokenSink(file: file, index: 0, source: source, names: names) { [self] in
            entries += $0
        }
        let content = try bytes ?? Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        switch reader {
        case .lines(let reader): Self.read(content, with: reader, &sink)
        case .document(let read): content.withUnsafeBytes { read($0, &sink) }
        case .opened(let reader):
            var reader = reader
            var budget = ScanBudget(limits: ScanLimits(), monotonicSeconds: { 0 })
            _ = try reader.read(file, budget: &budget, into: &sink)
        }
        sink.finish()
        leftOutCount += sink.leftOutCount
        issues += sink.issues
    }

    private static func read<Reader: TokenLineReader>(_ bytes: [UInt8], with reader: Reader, _ sink: inout TokenSink) {
        var reader = reader
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                if end > start { reader.add(.init(rebasing: bytes[start..<end]), to: &sink) }
                start = end + 1
            }
        }
    }

    /// What counts of it, by id.
    var merged: [TokenEntry] {
        TokenMerge.counted(entries, sessions: names.current.sessions)
    }

    /// The names of sessions, projects and models.
    var texts: [String] {
        let content = names.current
        return content.models + content.sessions.flatMap { [$0.id, $0.project ?? ""] }
    }
}

extension TokenMerge {
    /// What counts of entries in any order.
    static func counted(
        _ entries: [TokenEntry], sessions: [TokenSession] = [], files: [TokenLineage.Thread] = []
    ) -> [TokenEntry] {
        var entries = entries
        reduce(&entries)
        var counted: [TokenEntry] = []
        TokenMerge(lineage: TokenLineage(sessions: sessions, files: files)).count(entries) {
            counted.append($0)
        }
        return counted
    }
}
