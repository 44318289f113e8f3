import StoreTestSupport

@testable import UsagePusher

/// The store of Copilot CLI, with a row for each request, and the logs of sessions, with sums that begin again or do
/// not when a session is resumed. A session may be older than the store, and have rows only for its later requests.
struct CopilotHistory: HistoryWriter {
    let log: any TokenLog = CopilotTokens()

    func write(_ history: inout History) {
        let store = history.chance(3) ? nil : Store(&history)
        for index in 0..<1 + history.below(3) {
            var session = Session(id: "s\(index)", store: store, &history)
            for _ in 0..<1 + history.below(4) { session.run(&history) }
        }
    }
}

private struct Store {
    private static let path = ".copilot/session-store.db"
    /// Older versions have not all columns.
    let isOld: Bool

    init(_ history: inout History) {
        isOld = history.chance(4)
        let columns = isOld ? "" : ", total_nano_aiu INTEGER, copilot_usage_model TEXT"
        history.execute(
            """
            CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT);
            CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
            model TEXT NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,
            cache_write_tokens INTEGER, reasoning_tokens INTEGER, created_at TEXT\(columns));
            """, in: Self.path)
    }

    func add(session: String, project: String, _ history: inout History) {
        history.execute("INSERT INTO sessions VALUES ('\(session)', '\(project)');", in: Self.path)
    }

    /// Adds a request, of which the model that was asked for may be another one than the one that is billed.
    func add(_ request: Metrics, model: String, of session: String, _ history: inout History) {
        let names = isOld ? "" : ", total_nano_aiu, copilot_usage_model"
        let values = isOld ? "" : ", \(request.charge), '\(model)'"
        let asked = isOld || history.chance(2) ? model : "auto"
        let isReal = history.chance(4) ? ".0" : ""
        let counts = request.counts
        let read = counts.cacheRead == 0 ? "NULL" : "\(counts.cacheRead)"
        history.execute(
            """
            INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens, cache_read_tokens,
            cache_write_tokens, reasoning_tokens, created_at\(names))
            VALUES ('\(session)', '\(asked)', \(counts.prompt)\(isReal), \(counts.output), \(read),
            \(counts.cacheWrite), \(counts.reasoning), '\(iso(history.now))'\(values));
            """, in: Self.path)
    }
}

/// What a model has used.
private struct Metrics {
    var counts = TokenCounts()
    var requestCount = 0
    /// 10⁻⁹ AI credits.
    var charge = 0

    var dollars: Double? { charge > 0 ? Double(charge) / 1e11 : nil }

    static func += (sum: inout Metrics, request: Metrics) {
        sum.counts += request.counts
        sum.requestCount += request.requestCount
        sum.charge += request.charge
    }

    private var numbers: [Int] {
        [
            counts.prompt, counts.output, counts.cacheRead, counts.cacheWrite, counts.reasoning, requestCount, charge,
        ]
    }

    func isBelow(_ earlier: Metrics) -> Bool { zip(numbers, earlier.numbers).contains { $0 < $1 } }

    func written(statesCharge: Bool) -> JSON {
        let usage = object([
            "inputTokens": counts.prompt, "outputTokens": counts.output, "cacheReadTokens": counts.cacheRead,
            "cacheWriteTokens": counts.cacheWrite, "reasoningTokens": counts.reasoning,
        ])
        return object([
            "requests": object(["count": requestCount]), "totalNanoAiu": statesCharge ? charge : nil, "usage": usage,
        ])
    }
}

private struct Session {
    private let id: String
    private let project: String?
    private let store: Store?
    /// The run from which on requests are in the store.
    private let firstStored: Int
    private let hasLog: Bool
    private let statesCharge: Bool
    /// Whether sums are since the session was resumed, and not since it began.
    private let beginsAgain: Bool
    private var start: Int64 = 0
    private var runCount = 0
    private var stated: [String: Metrics] = [:]

    private static let models = ["claude-sonnet-5", "gpt-5.5", "a-model-of-its-own"]

    init(id: String, store: Store?, _ history: inout History) {
        self.id = id
        project = history.chance(4) ? nil : "/src/app"
        self.store = history.chance(3) ? nil : store
        firstStored = history.pick([0, 0, 1, 2])
        hasLog = self.store == nil || firstStored > 0 || history.chance(2)
        statesCharge = self.store?.isOld != true && !history.chance(3)
        beginsAgain = history.chance(2)
        if let project { self.store?.add(session: id, project: project, &history) }
    }

    /// From a start to a shutdown.
    mutating func run(_ history: inout History) {
        var lines = [opening(&history)]
        var sums = beginsAgain ? [:] : stated
        var unstored: [String: Metrics] = [:]
        for _ in 0..<history.below(4) {
            let model = history.pick(Self.models)
            var request = Metrics(counts: history.counts(), requestCount: 1)
            if statesCharge { request.charge = history.below(3) * history.below(1_000_000) }
            let time = history.tick()
            sums[model, default: Metrics()] += request
            if let store, runCount >= firstStored {
                store.add(request, model: model, of: id, &history)
                add(request, model: model, at: time, isCoarse: false, &history)
            } else {
                unstored[model, default: Metrics()] += request
            }
        }
        let time = history.tick()
        for (model, sum) in unstored { add(sum, model: model, at: time, isCoarse: true, &history) }
        let isEvident = stated.contains { sums[$0]?.isBelow($1) ?? true }
        // Where no number tells it, the time does from which they count.
        if beginsAgain, runCount > 0, !isEvident || history.chance(3) { start = time }
        let metrics = sums.sorted { $0.key < $1.key }.map { (model, sum) -> (key: String, value: (any Writable)?) in
            (model, sum.written(statesCharge: statesCharge))
        }
        let data = object(["sessionStartTime": start, "modelMetrics": object(metrics)])
        lines.append(event("session.shutdown", data, &history))
        if history.chance(8) { lines.append(lines[lines.count - 1]) }
        if hasLog {
            history.append(lines: lines, to: ".copilot/session-state/\(id)/events.jsonl", isNew: runCount == 0)
        }
        stated = sums
        runCount += 1
    }

    private func add(_ used: Metrics, model: String, at time: Int64, isCoarse: Bool, _ history: inout History) {
        history.use(used.counts, at: time, in: id, project, model, dollars: used.dollars, isCoarse: isCoarse)
    }

    private mutating func opening(_ history: inout History) -> JSON {
        let time = history.tick()
        guard runCount == 0 else { return event("session.resume", object([:]), &history) }
        start = time
        return event("session.start", object(["sessionId": id, "context": object(["cwd": project])]), &history)
    }

    private func event(_ type: String, _ data: JSON, _ history: inout History) -> JSON {
        object(["type": type, "id": "e\(history.unique())", "timestamp": iso(history.now), "data": data])
    }
}
