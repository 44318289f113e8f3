import StoreTestSupport

@testable import UsagePusher

/// Rollouts of Codex before and since each response has a record, also both in one: threads, forks and agents with
/// copied lines, totals that begin again, and archived twins.
struct CodexHistory: HistoryWriter {
    let log: any TokenLog = CodexTokens()

    func write(_ history: inout History) {
        var threads: [Thread] = []
        for _ in 0..<1 + history.below(4) {
            let origin = history.chance(2) ? threads.randomElement(using: &history.random) : nil
            var thread = Thread(of: origin, &history)
            // Two that begin alike are two, whatever they have used.
            let twin = threads.first { $0.origin != nil && $0.origin == thread.origin }
            thread.respond(like: history.chance(2) ? twin : nil, &history)
            threads.append(thread)
        }
        let archived = threads.filter { _ in history.chance(6) }
        for thread in archived {
            history.append(
                thread.rows.map { $0.line.json + "\n" }.joined(),
                to: thread.path.replacing("sessions/2026/11/20", with: "archived_sessions"))
        }
        guard let gone = threads.randomElement(using: &history.random), gone.canBeMissed(threads),
            !archived.contains(where: { $0.id == gone.id }), history.chance(3)
        else { return }
        history.add(.remove(gone.path))
        history.truth.requests.removeAll { gone.times.contains($0.time) }
    }
}

/// A line of a rollout.
private struct Row {
    var time: Int64
    var type: String
    var payload: JSON
    /// What is not copied into another thread.
    var isRecord: Bool { type == "token_usage_record" || type == "compacted" }

    var line: JSON { object(["timestamp": iso(time), "type": type, "payload": payload]) }
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
    private var total = TokenCounts()
    private var model: String?
    private var tier = ServiceTier.standard
    private var hasRecords = false
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
        project = origin?.project ?? history.pick(["/src/app", "/src/web"])
        let isWhole = origin != nil || !history.chance(6)
        states = isWhole ? (true, true) : history.chance(2) ? (true, false) : (false, true)
        let mark = history.below(3)
        let spawn = object(["subagent": object(["thread_spawn": object(["parent_thread_id": self.origin])])])
        let meta = object([
            "id": id, "session_id": session, "timestamp": iso(start), "cwd": project,
            "forked_from_id": mark == 0 ? self.origin : nil, "parent_thread_id": mark == 1 ? self.origin : nil,
            "source": mark == 2 && origin != nil ? spawn : JSON(json: "\"cli\""),
        ])
        rows.append(Row(time: start, type: "session_meta", payload: meta))
        if let origin { copy(origin, &history) }
        history.append(lines: rows.map(\.line), to: path)
    }

    /// Begins with the rows of another thread, from the first or the last of them.
    private mutating func copy(_ origin: Thread, _ history: inout History) {
        var copies = origin.rows.filter { !$0.isRecord }
        if history.chance(2) { copies.removeAll { $0.type == "session_meta" } }
        // For a total that has begun again, the last rows alone do not tell that it has.
        if history.chance(3) { copies = copies.suffix(1 + history.below(4)) }
        let interval: Int64? = history.pick([nil, 1, 600])
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
    }

    mutating func respond(like twin: Thread?, _ history: inout History) {
        var new: [Row] = []
        let isLate = model == nil && history.chance(6)
        if !isLate { begin(&new, &history) }
        // No answer comes sooner.
        while origin != nil, history.now <= start + 1_000 { _ = history.tick() }
        if origin != nil, history.now <= start + 2_000 { needsOrigin = true }
        let count = twin?.ownCounts.count ?? 1 + history.below(5)
        for index in 0..<count {
            if index > 0, history.chance(3) { begin(&new, &history) }
            if history.chance(6) { restart(&new, &history) }
            if !isLate, states == (true, true), history.chance(4) { hasRecords.toggle() }
            let counts = twin?.ownCounts[index] ?? history.counts()
            ownCounts.append(counts)
            add(counts, &new, &history)
        }
        if model == nil { begin(&new, &history) }
        rows += new
        history.append(lines: new.map(\.line), to: path, isNew: false)
    }

    private func row(_ type: String, _ payload: JSON, _ history: inout History) -> Row {
        Row(time: history.tick(), type: type, payload: payload)
    }

    private mutating func begin(_ new: inout [Row], _ history: inout History) {
        let name = history.pick(Self.models)
        if model == nil {
            for index in history.truth.requests.indices where times.contains(history.truth.requests[index].time) {
                history.truth.requests[index].model = name
            }
        }
        model = name
        turn = "turn-\(history.unique())"
        // A fork states its settings, which it has from lines that it may not have copied.
        if history.chance(3) || origin != nil && ownCounts.isEmpty {
            tier = history.pick([.standard, .priority, .flex])
            let name = tier == .standard ? JSON.null : JSON(json: "\"\(tier)\"")
            let settings = object(["model": model, "service_tier": name])
            new.append(
                row("event_msg", object(["type": "thread_settings_applied", "thread_settings": settings]), &history))
        }
        new.append(row("turn_context", object(["turn_id": turn, "cwd": project, "model": name]), &history))
    }

    /// Makes the total begin again, as a resumed thread, an upgrade or a full context does.
    private mutating func restart(_ new: inout [Row], _ history: inout History) {
        guard states == (true, true) else { return }
        if history.chance(2) {
            let context = object(["input_tokens": 0, "output_tokens": 0, "total_tokens": 272_000])
            new.append(count(total: context, last: context, &history))
        }
        total = TokenCounts()
    }

    private mutating func add(_ counts: TokenCounts, _ new: inout [Row], _ history: inout History) {
        total += counts
        let (usage, sum) = (Self.usage(counts), Self.usage(total))
        let response = object([
            "thread_id": id, "session_id": session, "turn_id": turn, "response_id": "r\(history.unique())",
            "usage": usage, "thread_token_usage": sum,
        ])
        // A line that was torn is not always written again.
        let isLost = hasRecords && history.chance(8)
        if hasRecords, !isLost { new.append(row("token_usage_record", response, &history)) }
        let stated = count(total: states.total ? sum : nil, last: states.last ? usage : nil, &history)
        new.append(stated)
        let time = hasRecords && !isLost ? new[new.count - 2].time : stated.time
        times.insert(time)
        history.use(counts, at: time, in: session, project, model, tier: tier)
        // Only the limits have changed.
        if states.total, history.chance(3) { new.append(row(stated.type, stated.payload, &history)) }
        if hasRecords, isLost || history.chance(4) {
            new.append(row("compacted", object(["latest_token_usage_record": response]), &history))
        }
    }

    private static func usage(_ counts: TokenCounts) -> JSON {
        object([
            "input_tokens": counts.prompt, "cached_input_tokens": counts.cacheRead,
            "cache_write_input_tokens": counts.cacheWrite, "output_tokens": counts.output,
            "reasoning_output_tokens": counts.reasoning, "total_tokens": counts.prompt + counts.output,
        ])
    }

    private func count(total: JSON?, last: JSON?, _ history: inout History) -> Row {
        let info = object(["total_token_usage": total, "last_token_usage": last])
        return row("event_msg", object(["type": "token_count", "info": info]), &history)
    }
}
