import StoreTestSupport

@testable import UsagePusher

/// Sessions of Grok Build: turns of several models, with costs that are whole or not, forks that are stamped again and
/// outlive their origins, and subagents whose tokens are in the sums of a session that may be gone.
struct GrokHistory: HistoryWriter {
    let log: any TokenLog = GrokTokens()

    func write(_ history: inout History) {
        let sessions: [Session] = history.sessions { index, origin, history in
            var session = Session("s\(index)", of: origin, &history)
            for _ in 0..<1 + history.below(5) { session.complete(&history) }
            if history.chance(2) {
                session.hasAgent = true
                remove(session, &history)
            }
            return session
        }
        if history.chance(2) { leave(to: sessions, history.pick(sessions), &history) }
    }

    /// Removes a session whose turns state their own times. Those that a fork has are then the fork's.
    private func leave(to sessions: [Session], _ gone: Session, _ history: inout History) {
        let heirs = sessions.filter { $0.id != gone.id && !$0.times.isDisjoint(with: gone.times) }
        // Nothing tells which of several it is.
        guard gone.statesTimes, !gone.hasAgent, let heir = heirs.first, heirs.count == 1 else { return }
        history.add(.remove(gone.path))
        history.truth.requests = history.truth.requests.compactMap { request in
            guard request.session == gone.id else { return request }
            guard heir.times.contains(request.time) else { return nil }
            var request = request
            request.session = heir.id
            request.project = heir.project
            return request
        }
    }

    /// Lets a session delegate work, and may remove it.
    private func remove(_ session: Session, _ history: inout History) {
        var agent = Session("a-" + session.id, worksFor: session, &history)
        let known = history.truth.requests
        for _ in 0..<1 + history.below(3) { agent.complete(&history) }
        let isGone = session.isRemovable && history.chance(2)
        if isGone { history.add(.remove(session.path)) }
        history.truth.requests = isGone ? history.truth.requests.filter { $0.session != session.id } : known
    }
}

private struct Session {
    let id: String
    /// Whether no other one may have its lines.
    let isRemovable: Bool
    var hasAgent = false
    let project: String
    private let hasPrompts: Bool
    let statesTimes: Bool
    private var turns: [Turn] = []

    private struct Turn {
        var prompt: String?
        /// Stated beside the time of the line; nil where it is not.
        var time: Int64?
        var usage: JSON
    }

    private static let models = ["grok-build", "grok-4-fast", "of-somebody-else"]

    init(_ id: String, of origin: Session? = nil, worksFor parent: Session? = nil, _ history: inout History) {
        self.id = id
        isRemovable = origin == nil && history.chance(2)
        project = history.pick(["/src/app", "/src/web"])
        hasPrompts = !history.chance(4)
        statesTimes = history.chance(2)
        let kind = parent != nil ? history.pick(["subagent", "subagent_resume"]) : origin == nil ? nil : "fork"
        let summary = object([
            "info": object(["id": id, "cwd": project]), "current_model_id": "grok-build", "session_kind": kind,
            "parent_session_id": (parent ?? origin)?.id,
        ])
        history.replace(directory + "/summary.json", summary.json)
        // What has no id cannot be told from new turns when it is stamped again.
        guard let origin, origin.hasPrompts || origin.statesTimes, !origin.isRemovable else { return }
        turns = Array(origin.turns.prefix(1 + history.below(origin.turns.count)))
        let time = history.tick()
        history.append(lines: turns.map { line($0, time) }, to: path)
    }

    /// The times that turns state.
    var times: Set<Int64> { Set(turns.compactMap(\.time)) }

    private var directory: String { ".grok/sessions/%2Fsrc/\(id)" }
    var path: String { directory + "/updates.jsonl" }

    mutating func complete(_ history: inout History) {
        let time = statesTimes ? history.tick() : history.tick() / 1_000 * 1_000
        let names = Self.models.shuffled(using: &history.random).prefix(history.below(3))
        let isWhole = !history.chance(4)
        let sum = ModelUsage(&history)
        func add(_ model: String, _ usage: ModelUsage, cost: Double?) {
            history.use(usage.counts, at: time, in: id, project, model, dollars: isWhole ? cost : nil)
        }
        var parts: [(key: String, value: (any Writable)?)] = []
        for name in names {
            let usage = ModelUsage(&history)
            parts.append((name, usage.written))
            // A single model's cost may be only in the sum.
            add(name, usage, cost: usage.cost ?? (names.count == 1 ? sum.cost : nil))
        }
        if names.isEmpty { add("grok-build", sum, cost: sum.cost) }
        let gap = history.pick(["usageIsIncomplete", "costIsPartial"])
        let more = object([("modelUsage", names.isEmpty ? nil : object(parts)), (gap, isWhole ? nil : true)])
        let turn = Turn(
            prompt: hasPrompts ? "p\(history.unique())" : nil, time: statesTimes ? time : nil,
            usage: sum.written + more)
        var lines = [line(turn, time)]
        if hasPrompts, names.count == 1, history.chance(4) {
            // As it was stated before it had ended.
            let early = object([(names[0], object(["inputTokens": 1]))])
            let beginning = Turn(prompt: turn.prompt, time: turn.time, usage: object(["modelUsage": early]))
            lines.insert(line(beginning, time), at: 0)
        }
        history.append(lines: lines, to: path, isNew: turns.isEmpty)
        turns.append(turn)
    }

    private func line(_ turn: Turn, _ time: Int64) -> JSON {
        let update = object(["sessionUpdate": "turn_completed", "prompt_id": turn.prompt, "usage": turn.usage])
        return object([
            "timestamp": time / 1_000, "method": "_x.ai/session/update",
            "params": object([
                "sessionId": id, "update": update, "_meta": turn.time.map { object(["agentTimestampMs": $0]) },
            ]),
        ])
    }
}

private struct ModelUsage {
    let counts: TokenCounts
    private let ticks: Int?

    init(_ history: inout History) {
        counts = history.counts()
        ticks = history.chance(2) ? 1 + history.below(99_999) * 1_000_000 : nil
    }

    var cost: Double? { ticks.map { Double($0) / 1e10 } }

    var written: JSON {
        object([
            "inputTokens": counts.prompt, "outputTokens": counts.output, "cachedReadTokens": counts.cacheRead,
            "cacheCreationTokens": counts.cacheWrite, "reasoningTokens": counts.reasoning, "costUsdTicks": ticks,
        ])
    }
}
