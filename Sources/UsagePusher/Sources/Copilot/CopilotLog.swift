/// Reads the events of a session of Copilot CLI, of which the last one states its tokens.
///
/// A session that is resumed states its sums again, with what was added or, after some events, from zero.
struct CopilotLog: TokenLineReader {
    /// Its directory's name, until the log names it.
    private var session: String
    private var project: String?
    /// By model: what the log has stated last.
    private var totals: [String: Totals] = [:]

    private static let modelLimit = 64
    private static let shutdown = ByteNeedle("session.shutdown")
    private static let start = ByteNeedle("session.start")

    private struct Totals: Codable {
        var prompt = 0
        var cacheRead = 0
        var cacheWrite = 0
        var output = 0
        var reasoning = 0
        /// 10⁻⁹ AI credits.
        var charge: Double?

        /// What was added since.
        static func - (left: Totals, right: Totals) -> Totals {
            guard left.prompt >= right.prompt else { return left }
            return Totals(
                prompt: left.prompt - right.prompt,
                cacheRead: max(0, left.cacheRead - right.cacheRead),
                cacheWrite: max(0, left.cacheWrite - right.cacheWrite),
                output: max(0, left.output - right.output),
                reasoning: max(0, left.reasoning - right.reasoning),
                charge: left.charge.map { max(0, $0 - (right.charge ?? 0)) })
        }
    }

    init(session: String) { self.session = session }

    /// 10⁻⁹ AI credits in US dollars, of which one credit is a hundredth; nil for nothing.
    static func dollars(_ charge: Double) -> Double? { charge > 0 ? charge / 1e11 : nil }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        let isWanted = [Self.shutdown, Self.start].contains {
            $0.isIn(line)
        }
        guard isWanted else { return }
        var cursor = JSONCursor(line)
        var type: JSONCursor.Text?
        var id: UInt64 = 0
        var time: Int64?
        var data: JSONCursor?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "type" {
                type = cursor.text()
            } else if key == "id" {
                id = cursor.text()?.hash ?? 0
            } else if key == "timestamp" {
                time = cursor.milliseconds()
            } else if key == "data" {
                data = cursor.branch()
            } else {
                cursor.skip()
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        guard let type, var data else { return }
        if type == "session.start" {
            readStart(&data)
        } else if type == "session.shutdown" {
            addSums(&data, at: time, event: id, to: &sink)
        }
    }

    private mutating func readStart(_ data: inout JSONCursor) {
        guard data.enterObject() else { return }
        while let key = data.nextKey() {
            if key == "sessionId" {
                session = data.text()?.displayText ?? session
            } else if key == "context" {
                project = data.member("cwd") { $0.text() }?.displayText ?? project
            } else {
                data.skip()
            }
        }
    }

    private mutating func addSums(
        _ data: inout JSONCursor, at time: Int64?, event: UInt64, to sink: inout TokenSink
    ) {
        var sums: [(model: String, total: Totals)] = []
        var charge: Double?
        guard data.enterObject() else { return }
        while let key = data.nextKey() {
            if key == "totalNanoAiu" {
                charge = data.number()
            } else if key == "modelMetrics" {
                guard data.enterObject() else { continue }
                while let name = data.nextKey(), sums.count < Self.modelLimit {
                    let model = name.displayText ?? "unknown"
                    sums.append((model, Self.totals(&data)))
                }
            } else {
                data.skip()
            }
        }
        guard let time, !data.hasImpossibleCount else { return sink.leaveOut() }
        // Early versions state what was charged only for all models.
        if sums.count == 1, sums[0].total.charge == nil { sums[0].total.charge = charge }
        for (model, total) in sums {
            let added = total - (totals[model] ?? Totals())
            totals[model] = total
            let counts = TokenCounts(
                prompt: added.prompt, cacheRead: added.cacheRead, cacheWrite: added.cacheWrite,
                output: added.output, reasoning: added.reasoning)
            guard counts != TokenCounts() else { continue }
            var variant = ContentHash(seed: event)
            variant.add(model)
            sink.add(
                TokenRecord(
                    time: time, counts: counts, id: CopilotTokens.id(ofSession: session),
                    variant: UInt32(truncatingIfNeeded: variant.value),
                    ownCost: added.charge.flatMap(Self.dollars), isCoarse: true, isSummary: true),
                session: sink.session(session, project: project), model: sink.model(model))
        }
    }

    private static let names: JSONCursor.CountNames = [
        ("inputTokens", \.input), ("outputTokens", \.output), ("cacheReadTokens", \.cacheRead),
        ("cacheWriteTokens", \.cacheWrite5m), ("reasoningTokens", \.reasoning),
    ]

    private static func totals(_ cursor: inout JSONCursor) -> Totals {
        var totals = Totals()
        guard cursor.enterObject() else { return totals }
        while let key = cursor.nextKey() {
            if key == "totalNanoAiu" {
                totals.charge = cursor.number()
            } else if key == "usage" {
                var counts = TokenCounts()
                cursor.readCounts(names, into: &counts)
                totals.prompt = counts.input
                totals.output = counts.output
                totals.cacheRead = counts.cacheRead
                totals.cacheWrite = counts.cacheWrite5m
                totals.reasoning = counts.reasoning
            } else {
                cursor.skip()
            }
        }
        return totals
    }
}
