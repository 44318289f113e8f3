import LocalFiles

/// Why a database of another tool was not read. Contains nothing of its rows.
struct SQLiteError: Error, Equatable {
    enum Cause: Equatable {
        case file(FileError)
        case noLibrary
        case notADatabase
        case damaged
        /// A value that the query needs is longer than the limit.
        case valueTooLong(byteLimit: Int)
        /// The query reads a table or a column that `columns(of:)` has not returned.
        case unexpectedSchema
        case outOfMemory
        /// The pass's bytes, steps or time ran out before there was anything to return.
        case outOfBudget
        /// Its tool kept writing, or was interrupted.
        case inUse
        /// SQLite's own words for its result code.
        case other(String)
    }

    let path: String
    let cause: Cause
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
