import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Sessions of Kimi CLI and Kimi Code, with subagents, forks, and forks of which the origin is gone.
struct KimiHistory: HistoryWriter {
    let log: any TokenLog = KimiTokens()

    func write(_ history: inout History) {
        if history.chance(2) { writeOlder(&history) } else { writeNewer(&history) }
    }

    private func writeOlder(_ history: inout History) {
        let model = history.pick([nil, "kimi-k2-thinking"])
        if let model, history.chance(2) {
            history.replace(".kimi/config.json", "{\"model\": \"\(model)\"}")
        } else if let model {
            history.replace(
                ".kimi/config.toml",
                """
                default_model = "mine"  # the best
                [models."mine"]
                provider = "managed"
                model = "\(model)"
                [providers.x]
                model = "other"
                """)
        }
        let _: [OlderSession] = history.sessions(3) { index, origin, history in
            var session = OlderSession("s\(index)", model ?? "kimi-for-coding", origin, &history)
            for _ in 0..<1 + history.below(5) { session.step(&history) }
            return session
        }
    }

    private func writeNewer(_ history: inout History) {
        let desktop = "Library/Application Support/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home"
        let home = history.pick([".kimi-code", desktop])
        history.replace(home + "/config.toml", "[models.\"kimi-code/k3\"]\nmodel = 'k3'\n")
        let sessions: [NewerSession] = history.sessions { index, origin, history in
            var session = NewerSession("session_\(index)", in: home, origin, &history)
            for _ in 0..<1 + history.below(6) { session.step(&history) }
            return session
        }
        let gone = sessions.first { session in sessions.count { $0.origin == session.id } < 2 }
        guard let gone, history.chance(2) else { return }
        for agent in gone.agents.sorted() { history.add(.remove(gone.path(agent))) }
        let fork = sessions.first { $0.origin == gone.id }
        history.truth.remove(gone.id) { request in
            guard let fork, fork.copiedTimes.contains(request.time) else { return nil }
            var moved = request
            moved.session = fork.id
            moved.project = fork.project
            return moved
        }
    }
}

private func usage(_ counts: TokenCounts, _ names: [String]) -> JSON {
    let values = [counts.input, counts.output, counts.cacheRead, counts.cacheWrite5m]
    return object(zip(names, values).map { ($0, $1) })
}

/// Kimi CLI: nothing tells which session has made the steps that a fork has too.
private struct OlderSession {
    private let id: String
    private let model: String
    private var lines: [JSON] = []
    private var agents: [String: String] = [:]
    private let hasIDs: Bool
    private let isImported: Bool

    private static let names = [
        "input_other", "output", "input_cache_read", "input_cache_creation",
    ]

    init(_ id: String, _ model: String, _ origin: OlderSession?, _ history: inout History) {
        self.id = id
        self.model = model
        hasIDs = history.chance(2)
        isImported = origin?.isImported ?? history.chance(4)
        lines = history.chance(2) ? [] : [object(["type": "metadata", "protocol_version": "1.10"])]
        if let origin {
            // Up to some turn.
            lines = Array(origin.lines.prefix(history.below(origin.lines.count + 1)))
            agents = origin.agents
            history.truth.confuse(id, with: origin.id)
            for (agent, model) in agents.sorted(by: { $0.key < $1.key }) {
                write(agent, model, &history)
            }
        }
        history.append(lines: lines, to: path)
    }

    private var directory: String { isImported ? ".kimi/imported_sessions/\(id)" : ".kimi/sessions/ab12/\(id)" }
    private var path: String { directory + "/wire.jsonl" }

    mutating func step(_ history: inout History) {
        let counts = history.counts(hasReasoning: false)
        let time = history.tick()
        let payload = object([
            "context_usage": 0.1, "token_usage": usage(counts, Self.names),
            "message_id": hasIDs ? "chatcmpl-\(history.unique())" : nil,
        ])
        func message(_ type: String, _ payload: JSON) -> JSON { object(["type": type, "payload": payload]) }
        var text = message("StatusUpdate", payload)
        var stepModel = model
        if history.chance(3) {
            let agent = "a\(history.below(3))"
            if agents[agent] == nil {
                agents[agent] = history.pick(["kimi-k2-turbo", model])
                write(agent, agents[agent]!, &history)
            }
            stepModel = agents[agent]!
            for depth in 0..<1 + history.below(3) {
                let agent = depth == 0 ? agent : "outer"
                text = message("SubagentEvent", object(["agent_id": agent, "event": text]))
            }
            // Newer versions keep a subagent's own events too.
            history.append(lines: [line(time, text)], to: directory + "/subagents/\(agent)/wire.jsonl")
        }
        let new = [line(time, message("StatusUpdate", object(["token_usage": JSON.null]))), line(time, text)]
        lines += new
        history.append(lines: new, to: path, isNew: false)
        history.use(counts, at: time, in: id, isImported ? nil : "ab12", stepModel)
    }

    private func line(_ time: Int64, _ message: JSON) -> JSON {
        let fraction = String(time % 1_000 + 1_000).dropFirst()
        return object(["timestamp": JSON(json: "\(time / 1_000).\(fraction)"), "message": message])
    }

    private func write(_ agent: String, _ model: String, _ history: inout History) {
        let meta = #"{"launch_spec": {"effective_model": "\#(model)"}}"#
        history.replace(directory + "/subagents/\(agent)/meta.json", meta)
    }
}

private struct NewerSession {
    let id: String
    let origin: String?
    let project: String
    private let home: String
    private(set) var agents: Set<String> = []
    private(set) var copiedTimes: Set<Int64> = []
    private var times: [Int64] = []
    private var models: [String: String] = [:]

    private static let names = ["inputOther", "output", "inputCacheRead", "inputCacheCreation"]

    init(_ id: String, in home: String, _ origin: NewerSession?, _ history: inout History) {
        self.id = id
        self.home = home
        self.origin = origin?.id
        project = history.pick(["/src/app", "/src/web"])
        history.replace(directory + "/state.json", object(["workDir": project, "forkedFrom": origin?.id]).json)
        guard let origin else { return }
        times = origin.times
        copiedTimes = Set(times)
        models = origin.models
        agents = origin.agents
        for agent in agents.sorted() {
            let copy = history.steps.reduce(into: Data()) { bytes, step in
                if case .append(origin.path(agent), let new) = step { bytes += new }
            }
            history.add(.append(path(agent), copy))
            let mark = object(["type": "forked", "time": history.tick(within: 100)])
            history.append(lines: [mark], to: path(agent), isNew: false)
        }
    }

    private var directory: String { "\(home)/sessions/wd_app_ab12/\(id)" }
    func path(_ agent: String) -> String { directory + "/agents/\(agent)/wire.jsonl" }

    mutating func step(_ history: inout History) {
        let agent = history.pick(["main", "main", "agent-0"])
        let counts = history.counts(hasReasoning: false)
        let alias = history.pick(["kimi-code/k3", "kimi-code/k2"])
        var lines: [JSON] = []
        if history.chance(2) {
            let model = history.pick(["k3", "k3-preview"])
            models[agent + alias] = model
            lines.append(object(["type": "llm.request", "model": model, "modelAlias": alias]))
        }
        let time = history.tick()
        func record(_ usage: JSON, scope: String) -> JSON {
            object(["type": "usage.record", "model": alias, "usage": usage, "usageScope": scope, "time": time])
        }
        if history.chance(6) { lines.append(record(usage(TokenCounts(), Self.names), scope: "turn")) }
        let usage = usage(counts, Self.names)
        let event = object(["type": "step.end", "usage": usage])
        lines.append(object(["type": "context.append_loop_event", "event": event, "time": time]))
        lines.append(record(usage, scope: history.pick(["turn", "session"])))
        history.append(lines: lines, to: path(agent), isNew: agents.insert(agent).inserted)
        times.append(time)
        let settings = ["kimi-code/k3": "k3"]
        history.use(counts, at: time, in: id, project, models[agent + alias] ?? settings[alias] ?? alias)
    }
}
