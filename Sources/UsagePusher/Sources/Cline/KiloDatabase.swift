import LocalFiles

/// Reads `kilo.db`: the table `message`, whose rows are completed in place.
struct KiloDatabase: TokenFileReader {
    /// The last row that has been read.
    private var lastRowID: Int64?
    /// Of its message's id: after a VACUUM the row has another.
    private var lastID: UInt64?
    /// Earlier rows whose message was not complete.
    private var pending: [Int64] = []

    private static let batchCount = 4_096
    private static let pendingLimit = 64

    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool {
        // A database that its tool has only opened.
        if let status = try FileStatus(path: file.path), status.byteCount == 0 { return true }
        while true {
            let start = self
            let outcome: SQLiteDatabase.Outcome<Batch?>
            do throws(SQLiteError) {
                outcome = try SQLiteDatabase.read(file.path, budget: &budget) {
                    connection throws(SQLiteError) in try Batch(connection, after: start)
                }
            } catch {
                if case .file(let error) = error.cause { throw error }
                sink.report(error.description)
                return true
            }
            switch outcome {
            case .missing, .read(nil): return true
            case .inUse, .outOfBudget: return false
            case .read(let batch?):
                for row in batch.rows { row.message.add(to: &sink, session: row.session) }
                for _ in 0..<batch.tooLongCount { sink.leaveOut() }
                self = batch.end
                if batch.isComplete { return true }
            }
        }
    }

    private struct Batch {
        var rows: [(session: String?, message: KiloMessage)] = []
        var tooLongCount = 0
        var isComplete = false
        /// Where the next batch goes on.
        var end = KiloDatabase()

        /// Nil when the database has no such table.
        init?(_ connection: SQLiteConnection, after start: KiloDatabase) throws(SQLiteError) {
            let names = ["id", "session_id", "data"]
            guard let columns = try connection.columns(of: "message"),
                columns.isSuperset(of: names)
            else { return nil }
            if try start.isStillThere(in: connection) {
                end = start
                end.pending = []
                for id in start.pending {
                    _ = try connection.query(
                        "SELECT id, session_id, data FROM message WHERE _rowid_ = ?1",
                        [.integer(id)]
                    ) { add($0, id) }
                }
            }
            let scan = try connection.rows(
                of: "message", names, after: end.lastRowID, limit: KiloDatabase.batchCount
            ) { id, row in
                add(row, id)
                end.lastID = row.withBytes(0, ContentHash.of)
            }
            if scan.lastRowID != .min { end.lastRowID = scan.lastRowID }
            if scan.tooLongCount > 0 {
                tooLongCount = scan.tooLongCount
                end.lastID = nil
            }
            isComplete = scan.isComplete
        }

        private mutating func add(_ row: borrowing SQLiteRow, _ id: Int64) {
            guard let message = row.withBytes(2, KiloMessage.init) else { return }
            if message.isRunning {
                end.pending.append(id)
                if end.pending.count > KiloDatabase.pendingLimit { end.pending.removeFirst() }
            } else {
                rows.append((row.text(1), message))
            }
        }
    }

    private func isStillThere(in connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        guard let lastRowID, let lastID else { return lastRowID == nil }
        var isSame = false
        _ = try connection.query(
            "SELECT id FROM message WHERE _rowid_ = ?1", [.integer(lastRowID)]
        ) { isSame = $0.withBytes(0, ContentHash.of) == lastID }
        return isSame
    }
}
