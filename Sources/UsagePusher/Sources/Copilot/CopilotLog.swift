/// Reads the events of a session of Copilot CLI, of which the last one states its tokens.
///
/// A session that is resumed states its sums again: since the session began or, to July 2026, since it was resumed.
struct CopilotLog: TokenLineReader {
    /// Its directory's name, until the log names it.
    private var session: String
    private var project: String?
    /// By model: what the log has stated last.
    private var totals: [String: Totals] = [:]
    /// Milliseconds since 1970: from when on that was counted.
    private var start: Int64?

    private static let modelLimit = 64
    private static let shutdown = ByteNeedle("session.shutdown")
    private static let start = ByteNeedle("session.start")

    private struct Totals: Codable {
        var requestCount = 0
        var prompt = 0
        var cacheRead = 0
        var cacheWrite = 0
        var output = 0
        var reasoning = 0
        /// 10⁻⁹ AI credits.
        var charge: Double?

        /// Whether a number has fallen since.
        func isBelow(_ earlier: Totals) -> Bool {
            let pairs = [
                (requestCount, earlier.requestCount), (prompt, earlier.prompt), (cacheRead, earlier.cacheRead),
                (cacheWrite, earlier.cacheWrite), (output, earlier.output), (reasoning, earlier.reasoning),
            ]
            return pairs.contains { $0 < $1 } || (charge ?? .infinity) < (earlier.charge ?? 0)
        }

        /// What was added since.
        static func - (left: Totals, right: Totals) -> Totals {
            Totals(
                requestCount: left.requestCount - right.requestCount, prompt: left.prompt - right.prompt,
                cacheRead: left.cacheRead - right.cacheRead, cacheWrite: left.cacheWrite - right.cacheWrite,
                output: left.output - right.output, reasoning: left.reasoning - right.reasoning,
                charge: left.charge.map { $0 - (right.charge ?? 0) })
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
            switch key {
            case "type": type = cursor.text()
            case "id": id = cursor.text()?.hash ?? 0
            case "timestamp": time = cursor.milliseconds()
            case "data": data = cursor.branch()
            default: cursor.skip()
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
            switch key {
            case "sessionId": session = data.text()?.displayText ?? session
            case "context": project = data.member("cwd") { $0.text() }?.displayText ?? project
            default: data.skip()
            }
        }
    }

    private mutating func addSums(_ data: inout JSONCursor, at time: Int64?, event: UInt64, to sink: inout TokenSink) {
        var sums: [String: Totals]?
        var charge: Double?
        var start: Int64?
        guard data.enterObject() else { return }
        while let key = data.nextKey() {
            switch key {
            case "totalNanoAiu": charge = data.number()
            case "modelMetrics":
                guard data.enterObject() else { continue }
                var stated: [String: Totals] = [:]
                while let name = data.nextKey(), stated.count < Self.modelLimit {
                    stated[name.displayText ?? "unknown"] = Self.totals(&data)
                }
                sums = stated
            case "sessionStartTime": start = data.milliseconds()
            default: data.skip()
            }
        }
        guard let time, !data.hasImpossibleCount else { return sink.leaveOut() }
        guard var sums else { return }
        // Early versions state what was charged only for all models.
        if sums.count == 1, let (model, total) = sums.first, total.charge == nil {
            sums[model]?.charge = charge
        }
        let earlier = hasBegunAgain(sums, countedFrom: start) ? [:] : totals
        totals = sums
        self.start = start
        for (model, total) in sums {
            let added = total - (earlier[model] ?? Totals())
            let counts = TokenCounts(
                prompt: added.prompt, cacheRead: added.cacheRead, cacheWrite: added.cacheWrite,
                output: added.output, reasoning: added.reasoning)
            guard counts != TokenCounts() else { continue }
            var variant = ContentHash(seed: event)
            variant.add(model)
            sink.add(
                TokenRecord(
                    time: time, counts: counts, id: CopilotTokens.id(ofSession: session),
                    variant: UInt32(truncatingIfNeeded: variant.value), role: .summary,
                    ownCost: added.charge.flatMap(Self.dollars), isCoarse: true),
                session: sink.session(session, project: project), model: sink.model(model))
        }
    }

    /// All counters begin again at once, whether they are larger then than before or not.
    private func hasBegunAgain(_ sums: [String: Totals], countedFrom start: Int64?) -> Bool {
        if let start, let earlier = self.start, start != earlier { return true }
        return totals.contains { model, earlier in sums[model]?.isBelow(earlier) ?? true }
    }

    private static let names: JSONCursor.CountNames = [
        ("inputTokens", \.input), ("outputTokens", \.output), ("cacheReadTokens", \.cacheRead),
        ("cacheWriteTokens", \.cacheWrite5m), ("reasoningTokens", \.reasoning),
    ]

    private static func totals(_ cursor: inout JSONCursor) -> Totals {
        var totals = Totals()
        guard cursor.enterObject() else { return totals }
        while let key = cursor.nextKey() {
            switch key {
            case "totalNanoAiu": totals.charge = cursor.number()
            case "requests": totals.requestCount = cursor.member("count") { $0.count() } ?? 0
            case "usage":
                var counts = TokenCounts()
                cursor.readCounts(names, into: &counts)
                totals.prompt = counts.input
                totals.output = counts.output
                totals.cacheRead = counts.cacheRead
                totals.cacheWrite = counts.cacheWrite5m
                totals.reasoning = counts.reasoning
            default: cursor.skip()
            }
        }
        return totals
    }
}
