import StoreTestSupport

@testable import UsagePusher

/// Sessions of Cline's command line: forks with the other session's messages, subagents in the same folder,
/// compactions.
struct ClineSessionHistory {
    func write(_ history: inout History) {
        let hasTimes = history.chance(2)
        let sessions: [Session] = history.sessions { index, origin, history in
            var session = Session("s\(index)", of: origin, &history)
            for _ in 0..<1 + history.below(5) { session.answer(hasTimes: hasTimes, &history) }
            return session
        }
        let gone = sessions.first { session in
            // Without times nothing tells a fork's copies when the session between is gone.
            (hasTimes || session.origin == nil) && sessions.count { $0.origin == session.id } < 2
        }
        guard let gone, history.chance(2) else { return }
        for path in gone.paths { history.add(.remove(path)) }
        let fork = sessions.first { $0.origin == gone.id }
        history.truth.remove(gone.id) { request in
            guard let fork, fork.copied.contains(request.counts) else { return nil }
            var moved = request
            moved.session = fork.id
            moved.project = fork.project
            if request.isCoarse { moved.time = fork.start }
            return moved
        }
    }
}

private struct Session {
    let id: String
    let origin: String?
    let project: String
    let start: Int64
    private(set) var copied: Set<TokenCounts> = []
    private var messages: [JSON] = []
    private var counts: Set<TokenCounts> = []
    private var agents: [String: [JSON]] = [:]

    init(_ id: String, of origin: Session?, _ history: inout History) {
        self.id = id
        self.origin = origin?.id
        project = history.pick(["/src/app", "/src/web"])
        start = history.tick()
        let fork = origin.map { object(["fork": object(["forkedFromSessionId": $0.id])]) }
        let manifest = object([
            "session_id": id, "started_at": iso(start), "model": "claude-sonnet-5", "cwd": "/elsewhere",
            "workspace_root": project, "metadata": fork,
        ])
        history.replace(directory + "/\(id).json", manifest.json)
        guard let origin else { return }
        messages = origin.messages
        copied = origin.counts
        counts = copied
        write(messages, id, &history)
    }

    private var directory: String { ".cline/data/sessions/\(id)" }

    var paths: [String] {
        ((messages.isEmpty ? [] : [id]) + agents.keys.sorted()).map { "\(directory)/\($0).messages.json" }
    }

    mutating func answer(hasTimes: Bool, _ history: inout History) {
        let counts = history.counts(hasReasoning: false)
        let model = history.pick([nil, "claude-opus-5", "another-one"])
        let cost = dollars(history.cost())
        let time = !hasTimes && history.chance(3) ? nil : history.tick()
        let metrics = object([
            "inputTokens": counts.prompt, "outputTokens": counts.output, "cacheReadTokens": counts.cacheRead,
            "cacheWriteTokens": counts.cacheWrite, "cost": cost,
        ])
        let message = object([
            "id": "msg_\(history.unique())", "role": "assistant", "ts": time,
            "modelInfo": model.map { object(["id": $0]) }, "metrics": metrics,
        ])
        history.use(
            counts, at: time ?? start, in: id, project, model ?? "claude-sonnet-5", dollars: cost, isCoarse: time == nil
        )
        if history.chance(4) {
            let agent = "agent\(history.below(2))"
            agents[agent, default: []].append(message)
            return write(agents[agent]!, agent, &history)
        }
        self.counts.insert(counts)
        messages.append(message)
        write(messages, id, &history)
    }

    private func write(_ messages: [JSON], _ name: String, _ history: inout History) {
        let text = object(["version": 1, "sessionId": id, "messages": JSON.list(messages)])
        history.replace("\(directory)/\(name).messages.json", text.json)
    }
}
