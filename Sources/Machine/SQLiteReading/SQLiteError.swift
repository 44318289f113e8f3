package import LocalFiles

/// Why a database of another tool was not read. Contains nothing of its rows.
package struct SQLiteError: Error, Equatable {
    package enum Cause: Equatable {
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

    package let path: String
    package let cause: Cause

    package init(path: String, cause: Cause) { (self.path, self.cause) = (path, cause) }
}
