import SeededRandomness

@testable import UsagePusher

/// The store of Copilot CLI, with a row for each request, and the logs of sessions, with sums that begin again or do not when a
/// session is resumed.
struct CopilotHistory: HistoryWriter {
    let log: any TokenLog = CopilotTokens()

    func write(_ history: inout History) {
        let store = history.random.chance(3) ? nil : Store(&history)
        for index in 0..<1 + history.random.below(3) {
            let session = "s\(index)"
            let project = history.random.chance(4) ? nil : "/src/app"
            let isInStore = store != nil && history.random.chance(2)
            if !isInStore || history.random.chance(2) {
                Log(session: session, project: project).write(isCounted: !isInStore, &history)
            }
            if isInStore { store?.write(session: session, project: project, &history) }
        }
    }

    fileprivate static let models = ["claude-sonnet-5", "gpt-5.5", "a-model-of-its-own"]
    /// 10⁻⁹ AI credits in US dollars.
    fileprivate static func dollars(_ charge: Int) -> Double? {
        charge > 0 ? Double(charge) / 1e11 : nil
    }
}

private struct Store {
    private static let path = ".copilot/session-store.db"
    /// Older versions have not all columns.
    private let isOld: Bool

    init(_ history: inout History) {
        isOld = history.random.chance(4)
        let columns = isOld ? "" : ", total_nano_aiu INTEGER, copilot_usage_model TEXT"
        history.add(
            .execute(
                Self.path,
                sql: """
                    CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT);
                    CREATE TABLE assistant_usage_events (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, model TEXT NOT NULL,
                    input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
                    cache_write_tokens INTEGER, reasoning_tokens INTEGER, created_at TEXT\(columns));
                    """))
    }

    func write(session: String, project: String?, _ history: inout History) {
        if let project {
            history.add(
                .execute(
                    Self.path, sql: "INSERT INTO sessions VALUES ('\(session)', '\(project)');"))
        }
        for _ in 0..<1 + history.random.below(5) {
            let counts = history.counts()
            let time = history.tick()
            let (asked, billed) = (
                history.random.pick(CopilotHistory.models),
                history.random.pick(CopilotHistory.models)
            )
            let charge = history.random.below(3) * history.random.below(1_000_000_000)
            let names = isOld ? "" : ", total_nano_aiu, copilot_usage_model"
            let values = isOld ? "" : ", \(charge), '\(billed)'"
            let isReal = history.random.chance(4) ? ".0" : ""
            let read = counts.cacheRead == 0 ? "NULL" : "\(counts.cacheRead)"
            history.add(
                .execute(
                    Self.path,
                    sql: """
                        INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens,
                        cache_read_tokens, cache_write_tokens, reasoning_tokens, created_at\(names))
                        VALUES ('\(session)', '\(asked)', \(counts.prompt)\(isReal), \(counts.output), \(read),
                        \(counts.cacheWrite), \(counts.reasoning),
                        '\(Written.time(time).filter { $0 != "\"" })'\(values));
                        """))
            history.truth.requests.append(
                TrueHistory.Request(
                    time: time, session: session, project: project, model: isOld ? asked : billed,
                    counts: counts, ownCost: isOld ? nil : CopilotHistory.dollars(charge)))
        }
    }
}

private struct Log {
    let session: String
    let project: String?
    private var path: String { ".copilot/session-state/\(session)/events.jsonl" }

    init(session: String, project: String?) {
        self.session = session
        self.project = project
    }

    /// What a model has used since the counters began.
    private struct Metrics {
        var counts = TokenCounts()
        var requestCount = 0
        var charge = 0

        var numbers: [Int] {
            [
                counts.prompt, counts.output, counts.cacheRead, counts.cacheWrite, counts.reasoning,
                requestCount, charge,
            ]
        }

        mutating func add(_ request: Metrics) {
            counts += request.counts
            requestCount += request.requestCount
            charge += request.charge
        }

        func object(statesCharge: Bool) -> String {
            Written.object(
                ("requests", Written.object(("count", "\(requestCount)"))),
                ("totalNanoAiu", statesCharge ? "\(charge)" : nil),
                (
                    "usage",
                    Written.object(
                        ("inputTokens", "\(counts.prompt)"), ("outputTokens", "\(counts.output)"),
                        ("cacheReadTokens", "\(counts.cacheRead)"),
                        ("cacheWriteTokens", "\(counts.cacheWrite)"),
                        ("reasoningTokens", "\(counts.reasoning)"))
                ))
        }
    }

    func write(isCounted: Bool, _ history: inout History) {
        let context = Written.object(("cwd", project.map(Written.text)))
        var start = history.tick()
        let data = Written.object(("sessionId", Written.text(session)), ("context", context))
        var lines = [event("session.start", at: start, data, &history)]
        var metrics: [String: Metrics] = [:]
        // Versions of the one kind state what was used since the session began, of the other since it was resumed.
        let beginsAgain = history.random.chance(2)
        let statesCharge = !history.random.chance(3)
        for segment in 0..<1 + history.random.below(4) {
            let before = metrics
            if segment > 0 {
                let time = history.tick()
                lines.append(event("session.resume", at: time, "{}", &history))
                if beginsAgain { metrics = [:] }
            }
            let used = use(&metrics, statesCharge: statesCharge, &history)
            let time = history.tick()
            let isEvident = before.contains { model, old in
                guard let new = metrics[model] else { return true }
                return zip(new.numbers, old.numbers).contains { $0 < $1 }
            }
            // Where no number tells it, the time does from which they count.
            if segment > 0, beginsAgain, !isEvident || history.random.chance(3) { start = time }
            let shutdown = Written.object(
                ("sessionStartTime", "\(start)"),
                (
                    "modelMetrics",
                    Written.object(
                        metrics.sorted { $0.key < $1.key }.map {
                            ($0.key, $0.value.object(statesCharge: statesCharge))
                        })
                ))
            lines.append(event("session.shutdown", at: time, shutdown, &history))
            if history.random.chance(8) { lines.append(lines[lines.count - 1]) }
            guard isCounted else { continue }
            for (model, metrics) in used {
                history.truth.requests.append(
                    TrueHistory.Request(
                        time: time, session: session, project: project, model: model,
                        counts: metrics.counts, ownCost: CopilotHistory.dollars(metrics.charge),
                        isCoarse: true))
            }
        }
        history.append(lines: lines, to: path)
    }

    /// Makes requests. Returns what each model has used for them.
    private func use(
        _ metrics: inout [String: Metrics], statesCharge: Bool, _ history: inout History
    ) -> [String: Metrics] {
        var used: [String: Metrics] = [:]
        for _ in 0..<history.random.below(4) {
            let model = history.random.pick(CopilotHistory.models)
            var request = Metrics(counts: history.counts(), requestCount: 1)
            if statesCharge { request.charge = history.random.below(1_000_000_000) }
            used[model, default: Metrics()].add(request)
            metrics[model, default: Metrics()].add(request)
        }
        return used
    }

    private func event(
        _ type: String, at time: Int64, _ data: String, _ history: inout History
    ) -> String {
        Written.object(
            ("type", Written.text(type)), ("id", Written.text("e\(history.unique())")),
            ("timestamp", Written.time(time)), ("data", data))
    }
}
