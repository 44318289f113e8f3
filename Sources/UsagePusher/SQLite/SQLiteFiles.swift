import LocalFiles

/// The names of a database's files.
struct SQLiteFiles: Sendable, Hashable {
    let database: String

    init(_ database: String) { self.database = database }

    /// Whether a file is named as a database is.
    static func isName(_ path: String) -> Bool {
        path.hasSuffix("db") || path.hasSuffix(".sqlite3")
    }

    /// The write-ahead log.
    var log: String { database + "-wal" }
    /// The shared memory of the processes that have the log open.
    var logIndex: String { database + "-shm" }
    /// The rollback journal.
    var journal: String { database + "-journal" }

    /// Whose changes may change what is read, present or not. The index is written as memory, of which no
    /// watcher hears.
    var watchedPaths: [String] { [database, log, journal] }
}
