import LocalFiles

/// The names of a database's files.
package struct SQLiteFiles: Sendable, Hashable {
    package let database: String

    package init(_ database: String) { self.database = database }

    /// Whether a file of a log may be a database: a user can give one any name, while all other files have names of
    /// their own.
    package static func isName(_ path: String) -> Bool {
        ![".jsonl", ".json", ".zst"].contains { path.hasSuffix($0) }
    }

    /// The write-ahead log.
    package var log: String { database + "-wal" }
    /// The shared memory of the processes that have the log open.
    package var logIndex: String { database + "-shm" }
    /// The rollback journal.
    package var journal: String { database + "-journal" }
}
