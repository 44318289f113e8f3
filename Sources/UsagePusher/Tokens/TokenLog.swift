import LocalFiles
import SQLiteReading
import Synchronization

/// Where a tool states the tokens of its requests, and how its files are read.
///
/// A reader gets what the tool left there: every number is implausible until checked, every text foreign, and a file is
/// half written more often than not. What is not understood is left out; `TokenSink.leaveOut` counts it.
protocol TokenLog: Sendable {
    /// The id of the provider.
    var source: String { get }
    /// To be raised when files are read in another way: what was cached is then read again.
    var version: Int { get }
    /// Directories whose files are read, and single files; missing ones are no errors. What was cached is read again
    /// when they have changed.
    func roots(in environment: SourceEnvironment) -> [String]
    /// The directories and files that a user sees as this log, present or not; the roots unless stated.
    func places(in environment: SourceEnvironment) -> [String]
    /// Whose changes may change what is read; of all roots unless stated.
    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath]
    /// Whether a file of this name below a root is read; others are not even inspected.
    func isWanted(_ name: String) -> Bool
    /// Whether a directory of this name below a root is listed.
    func isEntered(_ name: String) -> Bool
    /// How a file is read; nil to leave it out.
    func reader(of file: TokenFile) -> TokenReader?
}

extension TokenLog {
    var version: Int { 1 }

    func places(in environment: SourceEnvironment) -> [String] { roots(in: environment) }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        roots(in: environment).flatMap { root in
            root.hasSuffix(".db") ? SQLiteFiles.watchedPaths(of: [root]) : [WatchedPath(root, isRecursive: true)]
        }
    }

    func isEntered(_ name: String) -> Bool { true }
}

/// A file of a log.
struct TokenFile: Sendable, Hashable {
    var path: String
    /// The one of `TokenLog.roots` that it was found in.
    var root: String

    /// The path below the root, in its components; the name alone for a root that is a file.
    var components: [Substring] {
        let path = path.hasPrefix(root + "/") ? path.dropFirst(root.count + 1) : Substring(name)
        return path.split(separator: "/")
    }

    var name: String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }
}

/// How a file is read.
enum TokenReader {
    /// A file that grows by lines. What is appended later is read by the same reader.
    case lines(any TokenLineReader)
    /// A document that is written again as a whole, up to 32 MiB besides what is long in its strings. Each reading
    /// replaces the records of the last one.
    case document(@Sendable (UnsafeRawBufferPointer, inout TokenSink) -> Void)
    /// A file that the reader opens itself, a database. Its records are added to those of earlier readings.
    case opened(any TokenFileReader)
}

/// Reads a file of lines. Its properties are what it must know of earlier lines, as small as possible: they are kept
/// between runs.
protocol TokenLineReader: Codable, Sendable {
    /// - Parameter line: without its newline; valid during the call.
    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink)
}

/// Reads a file that it opens itself. Its properties are how far it has read: they are kept between runs.
protocol TokenFileReader: Codable, Sendable, Equatable {
    /// Adds what has changed since the last reading, in steps bounded by `budget`.
    ///
    /// - Returns: false when there is more to read, or the file is in use.
    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool
}

/// A session of a tool.
package struct TokenSession: Sendable, Hashable {
    /// The tool's own id, or the name of the file.
    package var id: String
    /// The directory that the tool was started in, or the tool's name for it.
    package var project: String?
    /// The id of the provider.
    package var source: String

    /// The same on every machine and in every run.
    var hash: UInt64 { ContentHash.of(source, id, project ?? "") }
}

/// The texts that entries refer to by number, each once. Any thread may use it.
final class TokenNames: Sendable {
    struct Content: Sendable {
        var sessions: [TokenSession] = []
        var models: [String] = []
        fileprivate var sessionIndices: [UInt64: UInt32] = [:]
        fileprivate var modelIndices: [UInt64: UInt16] = [:]

        init() {}

        init(sessions: [TokenSession], models: [String]) {
            for session in sessions { _ = index(of: session) }
            for model in models { _ = index(ofModel: model) }
        }

        mutating func index(of session: TokenSession) -> UInt32 {
            let hash = session.hash
            if let index = sessionIndices[hash] { return index }
            guard sessions.count < TokenNames.sessionLimit else { return 0 }
            sessions.append(session)
            sessionIndices[hash] = UInt32(sessions.count - 1)
            return UInt32(sessions.count - 1)
        }

        mutating func index(ofModel name: String) -> UInt16 {
            let hash = ContentHash.of(name)
            if let index = modelIndices[hash] { return index }
            guard models.count < TokenNames.modelLimit else { return TokenEntry.noModel }
            models.append(name)
            modelIndices[hash] = UInt16(models.count - 1)
            return UInt16(models.count - 1)
        }
    }

    static let sessionLimit = 1_000_000
    static let modelLimit = 4_096
    private let content: Mutex<Content>

    init(_ content: Content = Content()) { self.content = Mutex(content) }

    func index(of session: TokenSession) -> UInt32 { content.withLock { $0.index(of: session) } }
    func index(ofModel name: String) -> UInt16 { content.withLock { $0.index(ofModel: name) } }
    var current: Content { content.withLock { $0 } }
}
