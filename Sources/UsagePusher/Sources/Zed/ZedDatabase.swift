import LocalFiles
import SQLiteReading

/// Reads `threads.db`: a row for each thread, with what it has used so far, which is written again as a whole.
///
/// For a thread the largest sum counts, on the day of its last change.
struct ZedDatabase: TokenFileReader {
    private var cursor = ChangeCursor()

    private static let batchCount = 64
    /// The limit of a thread as it is stored.
    private static let valueByteLimit = 4 * 1_048_576

    init() {}

    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool {
        let byteLimit = budget.limits.decompressedByteCount
        return try readBatches(
            of: file, valueByteLimit: Self.valueByteLimit, budget: &budget, into: &sink
        ) { reader, connection throws(SQLiteError) in
            try reader.readThreads(connection, byteLimit: byteLimit)
        }
    }

    private mutating func readThreads(
        _ connection: SQLiteConnection, byteLimit: Int
    ) throws(SQLiteError) -> DatabaseBatch {
        var batch = DatabaseBatch()
        try connection.expectTable("threads")
        let required = ["id", "updated_at", "data_type", "data"]
        guard
            let columns = try connection.columns(
                required, optional: ["folder_paths"], of: "threads")?.joined(separator: ", ")
        else { return batch }
        let changed = try cursor.rows(of: "threads", changedAt: "updated_at", in: connection, limit: Self.batchCount)
        for (id, isNew) in changed.rows {
            var wasRead = false
            try connection.lookUp("SELECT \(columns) FROM threads WHERE _rowid_ = ?1", [.integer(id)]) { row in
                let thread = row.withBytes(3) { bytes in
                    ZedThread(bytes, isCompressed: row.text(2) == "zstd", byteLimit: byteLimit)
                }
                guard let thread = thread ?? nil, let id = row.text(0), let time = row.milliseconds(1) else { return }
                wasRead = true
                guard thread.counts != TokenCounts(), !thread.isImported else { return }
                batch.rows.append(
                    .init(
                        record: TokenRecord(
                            time: time, counts: thread.counts, id: ContentHash.of("zed", id), isCoarse: true),
                        session: id,
                        project: row.text(4)?.split(separator: "\n").first.map(String.init),
                        model: thread.model))
            }
            if !wasRead, isNew { batch.leftOutCount += 1 }
        }
        cursor = changed.cursor
        batch.isComplete = changed.isComplete
        return batch
    }
}
