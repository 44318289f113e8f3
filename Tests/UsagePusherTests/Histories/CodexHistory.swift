import StoreTestSupport

@testable import UsagePusher

/// Rollouts of Codex before and since each response has a record: threads, forks and agents with copied lines, totals
/// that begin again, and archived twins.
struct CodexHistory: HistoryWriter {
    let log: any TokenLog = CodexTokens()

    func write(_ history: inout History) {
        var threads: [Thread] = []
        for _ in 0..<1 + history.random.below(4) {
            let origin = history.random.chance(2) ? threads.randomElement(using: &history.random) : nil
            var thread = Thread(of: origin, &history)
            // Two that begin alike are two, whatever they have used.
            let twin = threads.first { $0.origin != nil && $0.origin == thread.origin }
            thread.respond(like: history.random.chance(2) ? twin : nil, &history)
            threads.append(thread)
        }
        let archived = threads.filter { _ in history.random.chance(6) }
        for thread in archived {
            history.append(
                thread.rows.map { $0.line + "\n" }.joined(),
                to: thread.path.replacing("sessions/2026/11/20", with: "archived_sessions"))
        }
        guard let gone = threads.randomElement(using: &history.random), gone.canBeMissed(threads),
            !archived.contains(where: { $0.id == gone.id }), history.random.chance(3)
        else { return }
        history.add(.remove(gone.path))
        history.truth.requests.removeAll { gone.times.contains($0.time) }
    }
}

/// A line of a rollout.
private struct Row {
    var time: Int64
    var type: String
    var payload: String
    var isCount: Bool { type == "event_msg" && payload.contains("token_count") }
    /// What is not copied into another thread.
    var isRecord: Bool { type == "token_usage_record" || type == "compacted" }

    var line: String {
        Written.object(("timestamp", Written.time(time)), ("type", Written.text(type)), ("payload", payload))
    }
}

private struct Usage: Equatable {
    var input = 0
    var cached = 0
    var cacheWrite = 0
    var output = 0
    var reasoning = 0

    init() {}

    init(_ counts: TokenCounts) {
        input = counts.prompt
        cached = counts.cacheRead
        cacheWrite = counts.cacheWrite
        output = counts.output
        reasoning = counts.reasoning
    }

    static func + (left: Usage, right: Usage) -> Usage {
        var sum = left
        sum.input += right.input
        sum.cached += right.cached
        sum.cacheWrite += right.cacheWrite
        sum.output += right.output
        sum.reasoning += right.reasoning
        return sum
    }

    var object: String {
        Written.object(
            ("input_tokens", "\(input)"), ("cached_input_tokens", "\(cached)"),
            ("cache_write_input_tokens", "\(cacheWrite)"), ("output_tokens", "\(output)"),
            ("reasoning_output_tokens", "\(reasoning)"), ("total_tokens", "\(input + output)"))
    }
}

private struct Thread {
    let id: String
    let origin: String?
    private let session: String
    private let project: String
    private let start: Int64
    private(set) var rows: [Row] = []
    private(set) var times: Set<Int64> = []
    /// Whether copies are told from other lines by the origin alone.
    private var needsOrigin = false
    private var ownCounts: [TokenCounts] = []
    private var total = Usage()
    private var model: String?
    private var tier = ServiceTier.standard
    private var hasRecords = false
    private var hasRestarted = false
    private let states: (total: Bool, last: Bool)
    private var turn = ""

    private static let models = ["gpt-5.5", "gpt-5.6-sol", "gpt-5.1-codex", "of-another-provider"]

    var path: String { ".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-\(id).jsonl" }

    func canBeMissed(_ threads: [Thread]) -> Bool {
        !threads.contains { $0.origin == id && $0.needsOrigin || $0.id == id && $0.origin != nil }
    }

    init(of origin: Thread?, _ history: inout History) {
        id = "t\(history.unique())"
        start = history.tick()
        // In early versions, which state one of the two, there are no forks.
        let origin = origin.flatMap { $0.states == (true, true) ? $0 : nil }
        self.origin = origin?.id
        session = origin?.session ?? id
        project = origin?.project ?? history.random.pick(["/src/app", "/src/web"])
        states =
            origin != nil || !history.random.chance(6)
            ? (true, true) : history.random.chance(2) ? (true, false) : (false, true)
        let mark = history.random.below(3)
        let spawn = Written.object(("parent_thread_id", origin.map { Written.text($0.id) }))
        let source = Written.object(("subagent", Written.object(("thread_spawn", spawn))))
        let meta = Written.object(
            ("id", Written.text(id)), ("session_id", Written.text(session)), ("timestamp", Written.time(start)),
            ("cwd", Written.text(project)), ("forked_from_id", mark == 0 ? origin.map { Written.text($0.id) } : nil),
            ("parent_thread_id", mark == 1 ? origin.map { Written.text($0.id) } : nil),
            ("source", mark == 2 && origin != nil ? source : Written.text("cli")))
        rows.append(Row(time: start, type: "session_meta", payload: meta))
        if let origin { copy(origin, &history) }
        history.append(lines: rows.map(\.line), to: path)
    }

    /// Begins with the rows of another thread, from the first or the last of them.
    private mutating func copy(_ origin: Thread, _ history: inout History) {
        var copies = origin.rows.filter { !$0.isRecord }
        if history.random.chance(2) { copies.removeAll { $0.type == "session_meta" } }
        // For a total that has begun again, the last rows alone do not tell that it has.
        if history.random.chance(3) {
            copies = copies.suffix(1 + history.random.below(4))
        }
        let interval: Int64? = history.random.pick([nil, 1, 600])
        if let interval {
            for index in copies.indices {
                copies[index].time = start + Int64(index) * interval
                // The clock goes on meanwhile.
                while history.now < copies[index].time { _ = history.tick() }
            }
        }
        needsOrigin = interval == 600
        rows += copies
        total = origin.total
        model = origin.model
        tier = origin.tier
        hasRestarted = origin.hasRestarted
    }

    mutating func respond(like twin: Thread?, _ history: inout History) {
        var new: [Row] = []
        let isLate = model == nil && history.random.chance(6)
        if !isLate { begin(&new, &history) }
        // No answer comes sooner.
        while origin != nil, history.now <= start + 1_000 { _ = history.tick() }
        if origin != nil, history.now <= start + 2_000 { needsOrigin = true }
        let count = twin?.ownCounts.count ?? 1 + history.random.below(5)
        for index in 0..<count {
            if index > 0, history.random.chance(3) { begin(&new, &history) }
            if history.random.chance(6) { restart(&new, &history) }
            if !isLate, states == (true, true), history.random.chance(4) { hasRecords = true }
            let counts = twin?.ownCounts[index] ?? history.counts()
            ownCounts.append(counts)
            add(counts, &new, &history)
        }
        if model == nil { begin(&new, &history) }
        rows += new
        history.append(lines: new.map(\.line), to: path, isNew: false)
    }

    private mutating func begin(_ new: inout [Row], _ history: inout History) {
        let name = history.random.pick(Self.models)
        if model == nil {
            for index in history.truth.requests.indices where times.contains(history.truth.requests[index].time) {
                history.truth.requests[index].model = name
            }
        }
        model = name
        turn = "turn-\(history.unique())"
        // A fork states its settings, which it has from lines that it may not have copied.
        if history.random.chance(3) || origin != nil && ownCounts.isEmpty {
            tier = history.random.pick([.standard, .priority, .flex])
            let settings = Written.object(
                ("model", Written.text(name)),
                ("service_tier", tier == .standard ? "null" : Written.text("\(tier)")))
            new.append(
                Row(
                    time: history.tick(), type: "event_msg",
                    payload: Written.object(
                        ("type", Written.text("thread_settings_applied")),
                        ("thread_settings", settings))))
        }
        new.append(
            Row(
                time: history.tick(), type: "turn_context",
                payload: Written.object(
                    ("turn_id", Written.text(turn)), ("cwd", Written.text(project)), ("model", Written.text(name)))))
    }

    /// Makes the total begin again, as a resumed thread, an upgrade or a full context does.
    private mutating func restart(_ new: inout [Row], _ history: inout History) {
        guard states == (true, true) else { return }
        if history.random.chance(2) {
            let context = #"{"input_tokens":0,"output_tokens":0,"total_tokens":272000}"#
            new.append(count(total: context, last: context, &history))
        }
        total = Usage()
        hasRestarted = true
    }

    private mutating func add(_ counts: TokenCounts, _ new: inout [Row], _ history: inout History) {
        let usage = Usage(counts)
        total = total + usage
        let response = Written.object(
            ("thread_id", Written.text(id)), ("session_id", Written.text(session)),
            ("turn_id", Written.text(turn)), ("response_id", Written.text("r\(history.unique())")),
            ("usage", usage.object), ("thread_token_usage", total.object))
        if hasRecords {
            new.append(Row(time: history.tick(), type: "token_usage_record", payload: response))
        }
        let row = count(total: states.total ? total.object : nil, last: states.last ? usage.object : nil, &history)
        new.append(row)
        let time = hasRecords ? new[new.count - 2].time : row.time
        times.insert(time)
        history.truth.requests.append(
            TrueHistory.Request(
                time: time, session: session, project: project, model: model, counts: counts, tier: tier))
        if states.total, history.random.chance(3) {
            // Only the limits have changed.
            new.append(Row(time: history.tick(), type: row.type, payload: row.payload))
        }
        if hasRecords, history.random.chance(4) {
            new.append(
                Row(
                    time: history.tick(), type: "compacted",
                    payload: Written.object(("latest_token_usage_record", response))))
        }
    }

    private func count(total: String?, last: String?, _ history: inout History) -> Row {
        let info = Written.object(("total_token_usage", total), ("last_token_usage", last))
        return Row(
            time: history.tick(), type: "event_msg",
            payload: Written.object(("type", Written.text("token_count")), ("info", info)))
    }
}
