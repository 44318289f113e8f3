import SQLiteReading

/// How far a table has been read of which a column says when each row was changed last.
///
/// Rows are read in the order of their ids, since the table is not sorted by that column and sorting it for each step
/// would take time that grows with the square of its size. A row that changes meanwhile is read with the next sweep.
struct ChangeCursor: Codable, Sendable, Hashable {
    /// The greatest value of the column when the last sweep began.
    private var time = ""
    /// The greatest of the rows that sweeps have read: one that is added later may have an earlier time.
    private var lastRowID = Int64.min
    private var sweep: Sweep?

    private struct Sweep: Codable, Hashable {
        /// The greatest value of the column when this one began.
        var time: String
        var lastRowID = Int64.min
    }

    /// What `rows` has found.
    struct Step {
        /// Rows that have been changed. One of the time at which the last sweep began is not new: it may have been read
        /// then.
        var rows: [(id: Int64, isNew: Bool)] = []
        var cursor: ChangeCursor
        var isComplete = false
    }

    init() {}

    /// Looks for rows that have been changed since the last sweep, at most `limit`.
    func rows(
        of table: String, changedAt column: String, in connection: SQLiteConnection, limit: Int
    ) throws(SQLiteError) -> Step {
        var sweep = sweep ?? Sweep(time: time)
        if self.sweep == nil {
            try connection.lookUp(
                "SELECT max(\(column)) FROM \(table) WHERE typeof(\(column)) = 'text'"
            ) { sweep.time = $0.text(0) ?? time }
        }
        var step = Step(cursor: self)
        var count = 0
        let isDone = try connection.query(
            """
            SELECT _rowid_, \(column) FROM \(table)
            WHERE _rowid_ > ?1 AND (+\(column) >= ?2 OR _rowid_ > ?3) ORDER BY _rowid_ LIMIT ?4
            """,
            [
                .integer(sweep.lastRowID), .text(time), .integer(lastRowID), .integer(Int64(limit)),
            ]
        ) { row in
            guard let id = row.integer(0) else { return }
            count += 1
            sweep.lastRowID = id
            if let time = row.text(1) {
                step.rows.append((id, time > self.time || id > lastRowID))
            }
        }
        step.isComplete = isDone && count < limit
        if step.isComplete { step.cursor.lastRowID = max(lastRowID, sweep.lastRowID) }
        step.cursor.time = step.isComplete ? sweep.time : time
        step.cursor.sweep = step.isComplete ? nil : sweep
        return step
    }
}
