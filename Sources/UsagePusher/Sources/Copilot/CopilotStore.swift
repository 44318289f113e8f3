import LocalFiles

/// Reads `session-store.db`, to which Copilot CLI adds a row for each request.
struct CopilotStore: TokenFileReader {
    private var place = TablePlace()

    private static let table = "assistant_usage_events"
    private static let required = [
        "id", "session_id", "model", "created_at", "input_tokens", "output_tokens",
    ]
    /// Absent in stores of older versions.
    private static let optional = [
        "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "total_nano_aiu",
        "copilot_usage_model",
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

    private mutating func readRequests(
        _ connection: SQLiteConnection
    ) throws(SQLiteError) -> DatabaseBatch {
        var batch = DatabaseBatch()
        guard let known = try connection.columns(of: Self.table),
            known.isSuperset(of: Self.required)
        else { return batch }
        let columns = Self.required + Self.optional.filter(known.contains)
        let indices = Dictionary(
            uniqueKeysWithValues: columns.enumerated().map { ($0.element, $0.offset) })
        var requests: [DatabaseBatch.Row] = []
        var leftOutCount = 0
        let step = try place.read(Self.table, columns, in: connection, limit: Self.batchCount) {
            row in
            func index(_ name: String) -> Int { indices[name] ?? -1 }
            guard let session = row.text(1), let time = row.milliseconds(3) else {
                leftOutCount += 1
                return
            }
            let counts = TokenCounts(
                prompt: row.tokenCount(4), cacheRead: row.tokenCount(index("cache_read_tokens")),
                cacheWrite: row.tokenCount(index("cache_write_tokens")), output: row.tokenCount(5),
                reasoning: row.tokenCount(index("reasoning_tokens")))
            guard counts != TokenCounts() else { return }
            // A store that was deleted begins its ids again.
            let variant = ContentHash.of("\(row.integer(0) ?? 0)", "\(time)")
            let cost = row.double(index("total_nano_aiu")).flatMap(CopilotLog.dollars)
            let model = row.text(index("copilot_usage_model")).flatMap { $0.isEmpty ? nil : $0 }
            requests.append(
                .init(
                    record: TokenRecord(
                        time: time, counts: counts, id: CopilotTokens.id(ofSession: session),
                        variant: UInt32(truncatingIfNeeded: variant), ownCost: cost),
                    session: session, model: model ?? row.text(2)))
        }
        place = step.place
        let projects = try connection.texts(
            "cwd", of: "sessions", with: "id", in: Set(requests.map(\.session)))
        batch.rows = requests.map { request in
            var request = request
            request.project = projects[request.session]
            return request
        }
        batch.leftOutCount = leftOutCount + step.tooLongCount
        batch.isComplete = step.isComplete
        return batch
    }
}
