import LocalFiles
import SQLiteReading

/// Reads `session-store.db`, to which Copilot CLI adds a row for each request.
struct CopilotStore: TokenFileReader {
    private var cursor = TableCursor()

    private static let table = "assistant_usage_events"
    private static let required = [
        "id", "session_id", "model", "created_at", "input_tokens", "output_tokens",
    ]
    /// Absent in stores of older versions.
    private static let optional = [
        "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "total_nano_aiu", "copilot_usage_model",
    ]
    private static let batchCount = 4_096
    private static let valueByteLimit = 262_144

    init() {}

    mutating func read(
        _ file: TokenFile, budget: inout ScanBudget, into sink: inout TokenSink
    ) throws(FileError) -> Bool {
        try readBatches(
            of: file, valueByteLimit: Self.valueByteLimit, budget: &budget, into: &sink
        ) { reader, connection throws(SQLiteError) in try reader.readRequests(connection) }
    }

    private mutating func readRequests(_ connection: SQLiteConnection) throws(SQLiteError) -> DatabaseBatch {
        var batch = DatabaseBatch()
        try connection.expectTable(Self.table, "sessions")
        guard let columns = try connection.columns(Self.required, optional: Self.optional, of: Self.table)
        else { return batch }
        var requests: [DatabaseBatch.Row] = []
        var leftOutCount = 0
        let step = try cursor.read(Self.table, columns, in: connection, limit: Self.batchCount) { row in
            guard let session = row.text(1) else {
                leftOutCount += 1
                return
            }
            let time = row.milliseconds(3)
            // What was read from the cache, and written to it, are parts of the prompt.
            let prompt = row.tokenCount(4)
            let cacheRead = min(row.tokenCount(6), prompt)
            let counts = TokenCounts(
                prompt: prompt, cacheRead: cacheRead, cacheWrite: min(row.tokenCount(7), max(0, prompt - cacheRead)),
                output: row.tokenCount(5), reasoning: row.tokenCount(8))
            guard counts != TokenCounts() else { return }
            // A store that was deleted begins its ids again.
            let variant = ContentHash.of("\(row.integer(0) ?? 0)", "\(time ?? 0)")
            let cost = row.double(9).flatMap(CopilotLog.dollars)
            let model = row.text(10).flatMap { $0.isEmpty ? nil : $0 }
            requests.append(
                .init(
                    record: TokenRecord(
                        time: time ?? 0, counts: counts, id: CopilotTokens.id(ofSession: session),
                        variant: UInt32(truncatingIfNeeded: variant), ownCost: cost, isCoarse: time == nil),
                    session: session, model: model ?? row.text(2)))
        }
        cursor = step.cursor
        let projects = try connection.texts("cwd", of: "sessions", with: "id", in: Set(requests.map(\.session)))
        let undated = requests.lazy.filter(\.record.isCoarse).map(\.session)
        let starts = try connection.texts("created_at", of: "sessions", with: "id", in: Set(undated))
        for var request in requests {
            request.project = projects[request.session]
            if request.record.isCoarse {
                guard let start = starts[request.session].flatMap(Timestamp.milliseconds(text:)) else {
                    leftOutCount += 1
                    continue
                }
                request.record.time = start
            }
            batch.rows.append(request)
        }
        batch.leftOutCount = leftOutCount + step.tooLongCount
        batch.isComplete = step.isComplete
        return batch
    }
}
