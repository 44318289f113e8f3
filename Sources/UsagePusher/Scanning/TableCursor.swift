import SQLiteReading

/// How far a table has been read to which rows are appended. Those that a tool changes later are read once more.
struct TableCursor: Codable, Sendable, Hashable {
    /// The last row that has been read; nil before the first.
    private var lastRowID: Int64?
    /// The hash of its key: after a VACUUM, or when the end of the table was deleted, the row has another.
    private var lastKey: UInt64?

    init() {}

    init(after rowID: Int64) { lastRowID = rowID }

    /// What `read` has found.
    struct Step {
        var cursor: TableCursor
        var tooLongCount: Int
        var isComplete: Bool
    }

    /// Passes the rows that follow, at most `limit`, and before them `rereadCount` rows once more. From the beginning
    /// when the table is not the one that was read last.
    ///
    /// - Parameters:
    ///   - columns: of the table; the first is unique.
    ///   - row: gets the columns in their order.
    func read(
        _ table: String, _ columns: [String], in connection: SQLiteConnection, rereading rereadCount: Int = 0,
        limit: Int, row: (borrowing SQLiteRow) -> Void
    ) throws(SQLiteError) -> Step {
        var start: Int64?
        var known = 0
        var cursor = TableCursor()
        if let lastRowID, try isStillThere(in: table, columns[0], connection) {
            cursor = self
            start = lastRowID
            if rereadCount > 0 {
                known = rereadCount
                start = nil
                try connection.lookUp(
                    "SELECT _rowid_ FROM \(table) WHERE _rowid_ <= ?1 ORDER BY _rowid_ DESC LIMIT 1 OFFSET ?2",
                    [.integer(lastRowID), .integer(Int64(rereadCount))]
                ) { start = $0.integer(0) }
            }
        }
        let scan = try connection.rows(of: table, columns, after: start, limit: known + limit) { id, values in
            row(values)
            cursor.lastRowID = id
            cursor.lastKey = Self.key(values)
        }
        if scan.tooLongCount > 0, scan.lastRowID != cursor.lastRowID {
            // Without its key, which was skipped with the row.
            cursor.lastRowID = scan.lastRowID
            cursor.lastKey = nil
        }
        return Step(cursor: cursor, tooLongCount: scan.tooLongCount, isComplete: scan.isComplete)
    }

    private func isStillThere(
        in table: String, _ key: String, _ connection: SQLiteConnection
    ) throws(SQLiteError) -> Bool {
        var isSame = false
        try connection.lookUp(
            "SELECT \(key) FROM \(table) WHERE _rowid_ = ?1", [.integer(lastRowID ?? 0)]
        ) { isSame = lastKey == nil || lastKey == Self.key($0) }
        return isSame
    }

    private static func key(_ row: borrowing SQLiteRow) -> UInt64 {
        if let number = row.integer(0) { return UInt64(bitPattern: number) }
        return row.withBytes(0, ContentHash.of) ?? 0
    }
}

extension SQLiteConnection {
    /// Whether there is such a table, with at least these columns.
    func has(_ names: [String], in table: String) throws(SQLiteError) -> Bool {
        try columns(of: table)?.isSuperset(of: names) ?? false
    }

    /// Whether there is such a table. Throws `unexpectedSchema` when it has not all of these columns.
    func expect(_ names: [String], in table: String) throws(SQLiteError) -> Bool {
        try columns(names, optional: [], of: table) != nil
    }

    /// The columns to read of a table: all of `required`, then the others, "NULL" for one that older versions of the
    /// tool have not; nil without such a table. Throws `unexpectedSchema` when it has not all that are required.
    func columns(_ required: [String], optional: [String], of table: String) throws(SQLiteError) -> [String]? {
        guard let known = try columns(of: table) else { return nil }
        guard known.isSuperset(of: required) else { throw SQLiteError(path: path, cause: .unexpectedSchema) }
        return required + optional.map { known.contains($0) ? $0 : "NULL" }
    }

    /// A text column by the key of its row, of those keys that are there; none without such a table.
    func texts(
        _ column: String, of table: String, with key: String, in keys: Set<String>
    ) throws(SQLiteError) -> [String: String] {
        try values(column, of: table, with: key, in: keys) { $0.text(0) }
    }

    /// An integer column, likewise.
    func integers(
        _ column: String, of table: String, with key: String, in keys: Set<String>
    ) throws(SQLiteError) -> [String: Int64] {
        try values(column, of: table, with: key, in: keys) { $0.integer(0) }
    }

    private func values<Value>(
        _ column: String, of table: String, with key: String, in keys: Set<String>,
        _ value: (borrowing SQLiteRow) -> Value?
    ) throws(SQLiteError) -> [String: Value] {
        var values: [String: Value] = [:]
        guard try has([column, key], in: table) else { return values }
        for name in keys {
            try lookUp("SELECT \(column) FROM \(table) WHERE \(key) = ?1", [.text(name)]) {
                values[name] = value($0)
            }
        }
        return values
    }
}
