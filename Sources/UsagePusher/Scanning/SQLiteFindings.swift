import LocalFiles
import SQLiteReading

extension SQLiteFiles {
    /// The paths whose changes may change what is read of some databases, present or not. The index is written as
    /// memory, of which no watcher hears.
    static func watchedPaths(of databases: [String]) -> [WatchedPath] {
        databases.map { SQLiteFiles($0) }.flatMap { [$0.database, $0.log, $0.journal] }.map { WatchedPath($0) }
    }
}

extension SQLiteError: CustomStringConvertible {
    /// "cannot read /path: reason; next step". The path is not escaped.
    var description: String {
        if case .file(let error) = cause { return error.description }
        return "cannot read \(path): \(message)"
    }

    /// Why, and what to do, without the path.
    var message: String {
        switch cause {
        case .file(let error): error.sourceMessage
        case .noLibrary: "SQLite is not installed; install \(SQLiteLibrary.packageName)"
        case .notADatabase: "it is not an SQLite database; check which program wrote it"
        case .damaged: "the database is damaged; let the tool that wrote it repair it"
        case .valueTooLong(let byteLimit): "a value has more than \(byteLimit) bytes"
        case .unexpectedSchema: "its tables are not those expected here; update usage-push"
        case .outOfMemory: "reading it needs too much memory"
        case .outOfBudget: "it takes too long to read"
        case .inUse: "its tool is writing it; it is read after the next change"
        case .other(let text): "SQLite reports: \(text)"
        }
    }

    func finding(title: String) -> SourceFinding {
        let verb = cause == .noLibrary ? "was not read" : "cannot be read"
        return SourceFinding(path: path, title: title, detail: "\(verb): \(message)", isError: true)
    }
}
