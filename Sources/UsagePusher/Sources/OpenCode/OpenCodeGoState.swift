import Essentials
import SQLiteReading

/// The requests to OpenCode Go that have been found in OpenCode's databases so far, and how far those have been read.
struct OpenCodeGoState: Sendable, Equatable {
    private struct Cursors: Equatable {
        var messages = TableCursor()
        /// Nil until there is a message of OpenCode Go: others do not need their steps.
        var parts: TableCursor?
    }

    private(set) var costs = OpenCodeGoCosts()
    private var cursors: [String: Cursors] = [:]

    private static let batchCount = 2_048
    /// Messages that may still change.
    private static let rereadCount = 256
    /// Longer than a month: older steps are not needed.
    private static let period: TimeInterval = 32 * 86_400

    /// Reads some messages of a database. Returns whether those were the last.
    mutating func readMessages(of path: String, _ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        let columns = ["id", "time_created", "data"]
        try connection.expectTable("message", "session_message")
        guard try connection.expect(columns, in: "message") else { return true }
        var own = cursors[path] ?? Cursors()
        let step = try own.messages.read(
            "message", columns, in: connection, rereading: Self.rereadCount, limit: Self.batchCount
        ) { row in
            guard let id = row.withBytes(0, ContentHash.of),
                let message = row.withBytes(2, { OpenCodeMessage($0) })
            else { return }
            costs.add(message, id: id, time: row.milliseconds(1))
        }
        own.messages = step.cursor
        cursors[path] = own
        return step.isComplete
    }

    /// Reads some steps of a database. Returns whether those were the last.
    mutating func readSteps(of path: String, _ connection: SQLiteConnection, at now: Date) throws(SQLiteError) -> Bool {
        let columns = ["id", "message_id", "time_created", "data"]
        guard costs.isUsed, var own = cursors[path], try connection.expect(columns, in: "part") else { return true }
        let start = now.addingTimeInterval(-Self.period).timeIntervalSince1970 * 1_000
        var parts = TableCursor()
        if let known = own.parts {
            parts = known
        } else {
            parts = try Self.cursor(at: Int64(start), connection)
        }
        let step = try parts.read("part", columns, in: connection, limit: Self.batchCount) { row in
            guard let id = row.withBytes(0, ContentHash.of),
                let message = row.withBytes(1, ContentHash.of),
                let part = row.withBytes(3, { OpenCodePart($0) })
            else { return }
            costs.add(part, id: id, message: message, time: row.milliseconds(2))
        }
        own.parts = step.cursor
        cursors[path] = own
        return step.isComplete
    }

    /// The cursor in the table of parts, which is in the order of time, before the first part that was written at
    /// `time` or later.
    private static func cursor(at time: Int64, _ connection: SQLiteConnection) throws(SQLiteError) -> TableCursor {
        var (low, high) = (Int64(0), Int64(0))
        let last = "SELECT _rowid_ FROM part ORDER BY _rowid_ DESC LIMIT 1"
        try connection.lookUp(last) { high = max(0, $0.integer(0) ?? 0) }
        var known: Int64?
        let next = "SELECT _rowid_, time_created FROM part WHERE _rowid_ > ?1 ORDER BY _rowid_ LIMIT 1"
        while low < high {
            let middle = low + (high - low) / 2
            var found: (id: Int64, time: Int64)?
            try connection.lookUp(next, [.integer(middle)]) { row in
                found = row.integer(0).map { ($0, row.integer(1) ?? .max) }
            }
            if let found, found.time < time {
                low = found.id
                known = found.id
            } else {
                high = middle
            }
        }
        return known.map { TableCursor(after: $0) } ?? TableCursor()
    }
}
