import LocalFiles
import SQLiteReading

/// Reads the tables in which OpenCode keeps its messages: `message` with its steps in `part`, and `session_message`.
struct OpenCodeDatabase: TokenFileReader {
    let source: String
    private var messages = TableCursor()
    private var parts = TableCursor()
    private var sessionMessages = TableCursor()

    private static let batchCount = 2_048
    /// Fewer, since for each a message may be looked up.
    private static let stepBatchCount = 512
    /// Messages that may still change: the newest of each session that runs.
    private static let rereadCount = 256
    /// A user's message may hold whole files.
    static let messageByteLimit = 262_144
    /// The limit of a step; what a tool returned is longer, and is not even read from the disk.
    static let partByteLimit = 16_384

    init(source: String) { self.source = source }

    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool {
        let hasAllMessages = try readBatches(
            of: file, valueByteLimit: Self.messageByteLimit, budget: &budget, into: &sink
        ) { reader, connection throws(SQLiteError) in
            var batch = try reader.readMessages(connection)
            if batch.isComplete { batch = try reader.readSessionMessages(connection, after: batch) }
            try batch.markCopies(connection)
            return batch
        }
        guard hasAllMessages, sink.issues.isEmpty else { return hasAllMessages }
        return try readBatches(
            of: file, valueByteLimit: Self.partByteLimit, budget: &budget, into: &sink
        ) { reader, connection throws(SQLiteError) in
            var batch = try reader.readSteps(connection)
            try batch.markCopies(connection)
            return batch
        }
    }

    private mutating func readMessages(_ connection: SQLiteConnection) throws(SQLiteError) -> DatabaseBatch {
        var batch = DatabaseBatch()
        let columns = ["id", "session_id", "data"]
        try connection.expectTable("message", "session_message")
        guard try connection.expect(columns, in: "message") else { return batch }
        let step = try messages.read(
            "message", columns, in: connection, rereading: Self.rereadCount, limit: Self.batchCount
        ) { row in
            guard let message = row.withBytes(2, { OpenCodeMessage($0) }) else { return }
            batch.add(message, source: source, session: row.text(1), project: message.project)
        }
        messages = step.cursor
        batch.isComplete = step.isComplete
        return batch
    }

    /// A message that is also in `message` is the same request.
    private mutating func readSessionMessages(
        _ connection: SQLiteConnection, after first: DatabaseBatch
    ) throws(SQLiteError) -> DatabaseBatch {
        var batch = first
        let columns = ["id", "session_id", "type", "data"]
        guard try connection.expect(columns, in: "session_message") else { return batch }
        var found: [(session: String, message: OpenCodeMessage)] = []
        let step = try sessionMessages.read(
            "session_message", columns, in: connection, rereading: Self.rereadCount, limit: Self.batchCount
        ) { row in
            guard let type = row.text(2), type == "assistant" || type == "compaction",
                let message = row.withBytes(3, { OpenCodeMessage($0, type: type) })
            else { return }
            found.append((row.text(1) ?? "unknown", message))
        }
        sessionMessages = step.cursor
        batch.isComplete = step.isComplete
        let sessions = Set(found.map(\.session))
        var projects = try connection.texts("directory", of: "session", with: "id", in: sessions)
        let previews = sessions.subtracting(projects.keys)
        projects.merge(try connection.texts("directory", of: "session_v2", with: "id", in: previews)) { $1 }
        for (session, message) in found {
            batch.add(message, source: source, session: session, project: message.project ?? projects[session])
        }
        return batch
    }

    private mutating func readSteps(_ connection: SQLiteConnection) throws(SQLiteError) -> DatabaseBatch {
        var batch = DatabaseBatch()
        let columns = ["id", "message_id", "data"]
        guard try connection.has(["id", "session_id", "data"], in: "message"),
            try connection.expect(columns, in: "part")
        else { return batch }
        var steps: [(message: String, usage: OpenCodeUsage)] = []
        let step = try parts.read("part", columns, in: connection, limit: Self.stepBatchCount) { row in
            guard let usage = row.withBytes(2, { OpenCodePart($0).step }) ?? nil,
                usage.counts != TokenCounts(), let message = row.text(1)
            else { return }
            steps.append((message, usage))
        }
        parts = step.cursor
        batch.isComplete = step.isComplete
        var messages: [String: (session: String?, message: OpenCodeMessage)] = [:]
        for (id, usage) in steps {
            if messages[id] == nil {
                try connection.lookUp("SELECT session_id, data FROM message WHERE id = ?1", [.text(id)]) { row in
                    if let message = row.withBytes(1, { OpenCodeMessage($0) }) {
                        messages[id] = (row.text(0), message)
                    }
                }
            }
            guard let (session, message) = messages[id], message.isAssistant,
                let record = message.record(source: source, step: usage)
            else { continue }
            batch.rows.append(
                .init(record: record, session: session ?? "unknown", project: message.project, model: message.model))
        }
        return batch
    }
}

extension DatabaseBatch {
    /// Marks what is older than its session, which is a fork's.
    fileprivate mutating func markCopies(_ connection: SQLiteConnection) throws(SQLiteError) {
        let starts = try connection.integers("time_created", of: "session", with: "id", in: Set(rows.map(\.session)))
        for index in rows.indices {
            guard let start = starts[rows[index].session] else { continue }
            if rows[index].record.time < start { rows[index].record.standing = .probableCopy }
        }
    }

    fileprivate mutating func add(_ message: OpenCodeMessage, source: String, session: String?, project: String?) {
        guard message.isCounted else { return }
        guard let record = message.record(source: source) else {
            leftOutCount += 1
            return
        }
        rows.append(Row(record: record, session: session ?? "unknown", project: project, model: message.model))
    }
}
