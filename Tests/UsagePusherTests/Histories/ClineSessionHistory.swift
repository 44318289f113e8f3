import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Sessions of Cline's command line: forks with the other session's messages, subagents in the same folder,
/// compactions.
struct ClineSessionHistory {
    func write(_ history: inout History) {
        let hasTimes = history.random.chance(2)
        var sessions: [Session] = []
        for index in 0..<1 + history.random.below(4) {
            let origin = history.random.chance(2) ? sessions.randomElement(using: &history.random) : nil
            var session = Session("s\(index)", of: origin, &history)
            for _ in 0..<1 + history.random.below(5) {
                session.answer(hasTimes: hasTimes, &history)
            }
            sessions.append(session)
        }
        let gone = sessions.first { session in
            // Without times nothing tells a fork's copies when the session between is gone.
            (hasTimes || session.origin == nil) && sessions.count { $0.origin == session.id } < 2
        }
        guard let gone, history.random.chance(2) else { return }
        for path in gone.paths { history.add(.remove(path)) }
        let fork = sessions.first { $0.origin == gone.id }
        history.truth.requests = history.truth.requests.compactMap { request in
            guard request.session == gone.id else { return request }
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
    private var messages: [String] = []
    private var counts: Set<TokenCounts> = []
    private var agents: [String: [String]] = [:]

    init(_ id: String, of origin: Session?, _ history: inout History) {
        self.id = id
        self.origin = origin?.id
        project = history.random.pick(["/src/app", "/src/web"])
        start = history.tick()
        let fork = origin.map {
            let members = Written.object(("forkedFromSessionId", Written.text($0.id)))
            return Written.object(("fork", members))
        }
        let manifest = Written.object(
            ("session_id", Written.text(id)), ("started_at", Written.time(start)),
            ("model", Written.text("claude-sonnet-5")), ("cwd", Written.text("/elsewhere")),
            ("workspace_root", Written.text(project)), ("metadata", fork))
        history.add(.replace(directory + "/\(id).json", Data(manifest.utf8)))
        guard let origin else { return }
        messages = origin.messages
        copied = origin.counts
        counts = copied
        write(messages, id, &history)
    }

    private var directory: String { ".cline/data/sessions/\(id)" }

    var paths: [String] {
        ((messages.isEmpty ? [] : [id]) + agents.keys.sorted()).map {
            "\(directory)/\($0).messages.json"
        }
    }

    mutating func answer(hasTimes: Bool, _ history: inout History) {
        let counts = history.counts(hasReasoning: false)
        let model = history.random.pick([nil, "claude-opus-5", "another-one"])
        let cost = history.random.chance(2) ? 1 + history.random.below(9_999) : nil
        let time = !hasTimes && history.random.chance(3) ? nil : history.tick()
        let metrics = Written.object(
            ("inputTokens", "\(counts.prompt)"), ("outputTokens", "\(counts.output)"),
            ("cacheReadTokens", "\(counts.cacheRead)"),
            ("cacheWriteTokens", "\(counts.cacheWrite)"),
            ("cost", cost.map { "\(Double($0) / 10_000)" }))
        let message = Written.object(
            ("id", Written.text("msg_\(history.unique())")), ("role", Written.text("assistant")),
            ("ts", time.map { "\($0)" }),
            ("modelInfo", model.map { Written.object(("id", Written.text($0))) }),
            ("metrics", metrics))
        history.truth.requests.append(
            .init(
                time: time ?? start, session: id, project: project, model: model ?? "claude-sonnet-5", counts: counts,
                ownCost: cost.map { Double($0) / 10_000 }, isCoarse: time == nil))
        if history.random.chance(4) {
            let agent = "agent\(history.random.below(2))"
            agents[agent, default: []].append(message)
            return write(agents[agent]!, agent, &history)
        }
        self.counts.insert(counts)
        messages.append(message)
        write(messages, id, &history)
    }

    private func write(_ messages: [String], _ name: String, _ history: inout History) {
        let text = Written.object(
            ("version", "1"), ("sessionId", Written.text(id)),
            ("messages", "[" + messages.joined(separator: ",") + "]"))
        history.add(.replace("\(directory)/\(name).messages.json", Data(text.utf8)))
    }
}
