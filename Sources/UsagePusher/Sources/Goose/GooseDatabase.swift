import Essentials
import LocalFiles
import SQLiteReading

/// Reads `sessions.db`: the answers of the ledger, and the sums of sessions, which count where there are no answers.
struct GooseDatabase: TokenFileReader {
    private var answers = TableCursor()
    private var sessions = ChangeCursor()

    private static let ledger = "usage_ledger"
    private static let batchCount = 1_024
    private static let valueByteLimit = 262_144

    init() {}

    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool {
        try readBatches(
            of: file, valueByteLimit: Self.valueByteLimit, budget: &budget, into: &sink
        ) { reader, connection throws(SQLiteError) in
            let batch = try reader.readAnswers(connection)
            return batch.isComplete ? try reader.readSums(connection, after: batch) : batch
        }
    }

    private static func id(ofSession session: String) -> UInt64 { ContentHash.of("goose", session) }

    private mutating func readAnswers(_ connection: SQLiteConnection) throws(SQLiteError) -> DatabaseBatch {
        struct Answer {
            var row: DatabaseBatch.Row
            var isCarried: Bool
            var total: Int
        }
        var batch = DatabaseBatch()
        let required = [
            "id", "session_id", "created_timestamp", "input_tokens", "output_tokens",
            "cache_read_tokens", "cache_write_tokens", "cost", "cost_source", "model",
        ]
        try connection.expectTable(Self.ledger, "sessions")
        guard let columns = try connection.columns(required, optional: ["total_tokens"], of: Self.ledger)
        else { return batch }
        var answers: [Answer] = []
        let step = try self.answers.read(Self.ledger, columns, in: connection, limit: Self.batchCount) { row in
            guard let id = row.integer(0), let session = row.text(1), let time = row.milliseconds(2) else {
                batch.leftOutCount += 1
                return
            }
            let counts = TokenCounts(
                prompt: row.tokenCount(3), cacheRead: row.tokenCount(5),
                cacheWrite: row.tokenCount(6), output: row.tokenCount(4))
            guard counts != TokenCounts() else { return }
            // Sessions are numbered for each day, so that two databases may have the same.
            let record = TokenRecord(
                time: time, counts: counts, id: Self.id(ofSession: session), identity: .foreign,
                variant: UInt32(truncatingIfNeeded: id), ownCost: row.double(7).flatMap { $0 > 0 ? $0 : nil })
            answers.append(
                Answer(
                    row: .init(record: record, session: session, model: row.text(9)),
                    isCarried: row.text(8) == "carried_forward" && row.isNull(9),
                    total: row.tokenCount(10)))
        }
        self.answers = step.cursor
        batch.leftOutCount += step.tooLongCount
        batch.isComplete = step.isComplete
        let known = try Self.sessions(Set(answers.map(\.row.session)), connection)
        batch.rows = answers.map { answer in
            var row = answer.row
            let session = known[row.session]
            row.project = session?.project
            row.model = row.model ?? session?.model
            row.record.counts.addThoughts(of: row.model, total: answer.total)
            if answer.isCarried {
                // What the session had used before there was a ledger.
                row.record.time = session?.created ?? row.record.time
                row.record.isCoarse = true
            }
            return row
        }
        return batch
    }

    private struct Session {
        var project: String?
        var created: Int64?
        var model: String?
    }

    private static func sessions(
        _ ids: Set<String>, _ connection: SQLiteConnection
    ) throws(SQLiteError) -> [String: Session] {
        var sessions: [String: Session] = [:]
        let columns = ["id", "working_dir", "created_at", "model_config_json"]
        guard try connection.has(columns, in: "sessions") else { return sessions }
        for id in ids {
            try connection.lookUp(
                "SELECT working_dir, created_at, model_config_json FROM sessions WHERE id = ?1",
                [.text(id)]
            ) {
                sessions[id] = Session(project: $0.text(0), created: $0.milliseconds(1), model: Self.model($0.text(2)))
            }
        }
        return sessions
    }

    private static func model(_ configuration: String?) -> String? {
        configuration.flatMap { JSONFields(Data($0.utf8))?.text("model_name") }
    }

    private mutating func readSums(
        _ connection: SQLiteConnection, after first: DatabaseBatch
    ) throws(SQLiteError) -> DatabaseBatch {
        var batch = first
        let required = [
            "id", "working_dir", "updated_at", "accumulated_input_tokens", "accumulated_output_tokens",
        ]
        let optional = [
            "accumulated_cache_read_tokens", "accumulated_cache_write_tokens", "accumulated_cost",
            "model_config_json", "accumulated_total_tokens",
        ]
        guard
            let columns = try connection.columns(required, optional: optional, of: "sessions")?.joined(separator: ", ")
        else { return batch }
        let changed = try sessions.rows(of: "sessions", changedAt: "updated_at", in: connection, limit: Self.batchCount)
        for (id, isNew) in changed.rows {
            var wasRead = false
            try connection.lookUp("SELECT \(columns) FROM sessions WHERE _rowid_ = ?1", [.integer(id)]) { row in
                wasRead = true
                let model = Self.model(row.text(8))
                var counts = TokenCounts(
                    prompt: row.tokenCount(3), cacheRead: row.tokenCount(5),
                    cacheWrite: row.tokenCount(6), output: row.tokenCount(4))
                counts.addThoughts(of: model, total: row.tokenCount(9))
                guard counts != TokenCounts() else { return }
                guard let session = row.text(0), let time = row.milliseconds(2) else {
                    if isNew { batch.leftOutCount += 1 }
                    return
                }
                batch.rows.append(
                    .init(
                        record: TokenRecord(
                            time: time, counts: counts, id: Self.id(ofSession: session), role: .summary,
                            ownCost: row.double(7).flatMap { $0 > 0 ? $0 : nil }, isCoarse: true),
                        session: session, project: row.text(1), model: model))
            }
            if !wasRead, isNew { batch.leftOutCount += 1 }
        }
        sessions = changed.cursor
        batch.isComplete = changed.isComplete
        return batch
    }
}

extension TokenCounts {
    /// Adds what a model of Google has thought: Goose takes its output without that, and its total with it.
    fileprivate mutating func addThoughts(of model: String?, total: Int) {
        let thoughts = total &- self.total
        guard thoughts > 0, model?.lowercased().contains("gemini") == true else { return }
        output &+= thoughts
        reasoning &+= thoughts
    }
}
