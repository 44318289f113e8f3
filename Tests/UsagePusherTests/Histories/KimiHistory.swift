import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Sessions of Kimi CLI and Kimi Code, with subagents, forks, and forks of which the origin is gone.
struct KimiHistory: HistoryWriter {
    let log: any TokenLog = KimiTokens()

    func write(_ history: inout History) {
        if history.random.chance(2) { writeOlder(&history) } else { writeNewer(&history) }
    }

    private func writeOlder(_ history: inout History) {
        let model = history.random.pick([nil, "kimi-k2-thinking"])
        if let model {
            let text = "default_model = \"mine\"\n[models.mine]\nmodel = \"\(model)\"\n"
            history.add(.replace(".kimi/config.toml", Data(text.utf8)))
        }
        var sessions: [OlderSession] = []
        for index in 0..<1 + history.random.below(3) {
            let origin = history.random.chance(2) ? sessions.last : nil
            var session = OlderSession("s\(index)", model ?? "kimi-for-coding", origin, &history)
            for _ in 0..<1 + history.random.below(5) { session.step(&history) }
            sessions.append(session)
        }
    }

    private func writeNewer(_ history: inout History) {
        history.add(.replace(".kimi-code/config.toml", Data("[models.\"kimi-code/k3\"]\nmodel = 'k3'\n".utf8)))
        var sessions: [NewerSession] = []
        for index in 0..<1 + history.random.below(4) {
            let origin = history.random.chance(2) ? sessions.randomElement(using: &history.random) : nil
            var session = NewerSession("session_\(index)", origin, &history)
            for _ in 0..<1 + history.random.below(6) { session.step(&history) }
            sessions.append(session)
        }
        let gone = sessions.first { session in
            sessions.count { $0.origin == session.id } < 2
        }
        guard let gone, history.random.chance(2) else { return }
        for agent in gone.agents.sorted() { history.add(.remove(gone.path(agent))) }
        let fork = sessions.first { $0.origin == gone.id }
        history.truth.requests = history.truth.requests.compactMap { request in
            guard request.session == gone.id else { return request }
            guard let fork, fork.copiedTimes.contains(request.time) else { return nil }
            var moved = request
            moved.session = fork.id
            moved.project = fork.project
            return moved
        }
    }
}

private func usage(_ counts: TokenCounts, _ names: [String]) -> String {
    let values = [counts.input, counts.output, counts.cacheRead, counts.cacheWrite5m]
    return Written.object(zip(names, values).map { ($0, "\($1)") })
}

/// Kimi CLI: nothing tells which session has made the steps that a fork has too.
private struct OlderSession {
    private let id: String
    private let model: String
    private var lines: [String] = []
    private var agents: [String: String] = [:]
    private let hasIDs: Bool

    private static let names = [
        "input_other", "output", "input_cache_read", "input_cache_creation",
    ]

    init(_ id: String, _ model: String, _ origin: OlderSession?, _ history: inout History) {
        self.id = id
        self.model = model
        hasIDs = history.random.chance(2)
        lines = [#"{"type": "metadata", "protocol_version": "1.10"}"#]
        if let origin {
            // Up to some turn.
            lines = Array(origin.lines.prefix(1 + history.random.below(origin.lines.count)))
            agents = origin.agents
            history.truth.indistinguishable[id] = history.truth.indistinguishable[origin.id] ?? origin.id
            for (agent, model) in agents.sorted(by: { $0.key < $1.key }) {
                write(agent, model, &history)
            }
        }
        history.append(lines: lines, to: path)
    }

    private var directory: String { ".kimi/sessions/ab12/\(id)" }
    private var path: String { directory + "/wire.jsonl" }

    mutating func step(_ history: inout History) {
        let counts = history.counts(hasReasoning: false)
        let time = history.tick()
        let payload = Written.object(
            ("context_usage", "0.1"), ("token_usage", usage(counts, Self.names)),
            ("message_id", hasIDs ? Written.text("chatcmpl-\(history.unique())") : nil))
        func message(_ type: String, _ payload: String) -> String {
            Written.object(("type", Written.text(type)), ("payload", payload))
        }
        var text = message("StatusUpdate", payload)
        var stepModel = model
        if history.random.chance(3) {
            let agent = "a\(history.random.below(3))"
            if agents[agent] == nil {
                agents[agent] = history.random.pick(["kimi-k2-turbo", model])
                write(agent, agents[agent]!, &history)
            }
            stepModel = agents[agent]!
            for depth in 0..<1 + history.random.below(3) {
                let agent = depth == 0 ? agent : "outer"
                text = message("SubagentEvent", Written.object(("agent_id", Written.text(agent)), ("event", text)))
            }
            // Newer versions keep a subagent's own events too.
            history.append(lines: [line(time, text)], to: directory + "/subagents/\(agent)/wire.jsonl")
        }
        let new = [
            line(time, message("StatusUpdate", #"{"token_usage": null}"#)), line(time, text),
        ]
        lines += new
        history.append(lines: new, to: path, isNew: false)
        history.truth.requests.append(.init(time: time, session: id, project: "ab12", model: stepModel, counts: counts))
    }

    private func line(_ time: Int64, _ message: String) -> String {
        let fraction = String(time % 1_000 + 1_000).dropFirst()
        return Written.object(("timestamp", "\(time / 1_000).\(fraction)"), ("message", message))
    }

    private func write(_ agent: String, _ model: String, _ history: inout History) {
        let meta = #"{"launch_spec": {"effective_model": "\#(model)"}}"#
        history.add(.replace(directory + "/subagents/\(agent)/meta.json", Data(meta.utf8)))
    }
}

private struct NewerSession {
    let id: String
    let origin: String?
    let project: String
    private(set) var agents: Set<String> = []
    private(set) var copiedTimes: Set<Int64> = []
    private var times: [Int64] = []
    private var models: [String: String] = [:]

    private static let names = ["inputOther", "output", "inputCacheRead", "inputCacheCreation"]

    init(_ id: String, _ origin: NewerSession?, _ history: inout History) {
        self.id = id
        self.origin = origin?.id
        project = history.random.pick(["/src/app", "/src/web"])
        let state = Written.object(
            ("workDir", Written.text(project)), ("forkedFrom", origin.map { Written.text($0.id) }))
        history.add(.replace(directory + "/state.json", Data(state.utf8)))
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
            let mark = #"{"type": "forked", "time": \#(history.tick(within: 100))}"#
            history.append(lines: [mark], to: path(agent), isNew: false)
        }
    }

    private var directory: String { ".kimi-code/sessions/wd_app_ab12/\(id)" }
    func path(_ agent: String) -> String { directory + "/agents/\(agent)/wire.jsonl" }

    mutating func step(_ history: inout History) {
        let agent = history.random.pick(["main", "main", "agent-0"])
        let counts = history.counts(hasReasoning: false)
        let alias = history.random.pick(["kimi-code/k3", "kimi-code/k2"])
        var lines: [String] = []
        if history.random.chance(2) {
            let model = history.random.pick(["k3", "k3-preview"])
            models[agent + alias] = model
            lines.append(
                Written.object(
                    ("type", Written.text("llm.request")), ("model", Written.text(model)),
                    ("modelAlias", Written.text(alias))))
        }
        let time = history.tick()
        let usage = usage(counts, Self.names)
        let event = Written.object(("type", Written.text("step.end")), ("usage", usage))
        lines.append(
            Written.object(("type", Written.text("context.append_loop_event")), ("event", event), ("time", "\(time)")))
        lines.append(
            Written.object(
                ("type", Written.text("usage.record")), ("model", Written.text(alias)), ("usage", usage),
                ("usageScope", Written.text(history.random.pick(["turn", "session"]))), ("time", "\(time)")))
        history.append(lines: lines, to: path(agent), isNew: agents.insert(agent).inserted)
        times.append(time)
        let settings = ["kimi-code/k3": "k3"]
        history.truth.requests.append(
            .init(
                time: time, session: id, project: project,
                model: models[agent + alias] ?? settings[alias] ?? alias, counts: counts))
    }
}
