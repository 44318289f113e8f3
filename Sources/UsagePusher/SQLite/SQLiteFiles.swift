import LocalFiles

/// The names of a database's files.
struct SQLiteFiles: Sendable, Hashable {
    let database: String

    init(_ database: String) { self.database = database }

    /// Whether a file of a log may be a database: a user can give one any name, while all other files have names of their own.
    static func isName(_ path: String) -> Bool {
        ![".jsonl", ".json", ".zst"].contains { path.hasSuffix($0) }
    }

    /// The write-ahead log.
    var log: String { database + "-wal" }
    /// The shared memory of the processes that have the log open.
    var logIndex: String { database + "-shm" }
    /// The rollback journal.
    var journal: String { database + "-journal" }

    /// The paths whose changes may change what is read of some databases, present or not. The index is written as
    /// memory, of which no watcher hears.
    static func watchedPaths(of databases: [String]) -> [WatchedPath] {
        databases.map { SQLiteFiles($0) }.flatMap { [$0.database, $0.log, $0.journal] }
            .map { WatchedPath($0) }
    }
}
