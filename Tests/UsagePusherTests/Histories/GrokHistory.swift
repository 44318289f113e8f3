import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Sessions of Grok Build: turns of several models, with costs that are whole or not, forks that are stamped again, and
/// subagents whose tokens are in the sums of a session that may be gone.
struct GrokHistory: HistoryWriter {
    let log: any TokenLog = GrokTokens()

    func write(_ history: inout History) {
        var sessions: [Session] = []
        for index in 0..<1 + history.random.below(4) {
            let origin = history.random.chance(2) ? sessions.randomElement(using: &history.random) : nil
            var session = Session("s\(index)", of: origin, &history)
            for _ in 0..<1 + history.random.below(5) { session.complete(&history) }
            sessions.append(session)
            if history.random.chance(2) { remove(session, &history) }
        }
    }

    /// Lets a session delegate work, and may remove it.
    private func remove(_ session: Session, _ history: inout History) {
        var agent = Session("a-" + session.id, worksFor: session, &history)
        let known = history.truth.requests
        for _ in 0..<1 + history.random.below(3) { agent.complete(&history) }
        let isGone = session.isRemovable && history.random.chance(2)
        if isGone { history.add(.remove(session.path)) }
        history.truth.requests =
            isGone
            ? history.truth.requests.filter { $0.session != session.id } : known
    }
}

private struct Session {
    let id: String
    /// Whether no other one may have its lines.
    let isRemovable: Bool
    private let project: String
    private let hasPrompts: Bool
    private var turns: [Turn] = []

    private struct Turn {
        var prompt: String?
        var usage: String
    }

    private static let models = ["grok-build", "grok-4-fast", "of-somebody-else"]

    init(_ id: String, of origin: Session? = nil, worksFor parent: Session? = nil, _ history: inout History) {
        self.id = id
        isRemovable = origin == nil && history.random.chance(2)
        project = history.random.pick(["/src/app", "/src/web"])
        hasPrompts = !history.random.chance(4)
        let kind =
            parent != nil
            ? history.random.pick(["subagent", "subagent_resume"]) : origin == nil ? nil : "fork"
        let summary = Written.object(
            ("info", Written.object(("id", Written.text(id)), ("cwd", Written.text(project)))),
            ("current_model_id", Written.text("grok-build")),
            ("session_kind", kind.map(Written.text)),
            ("parent_session_id", (parent ?? origin).map { Written.text($0.id) }))
        history.add(.replace(directory + "/summary.json", Data(summary.utf8)))
        // What has no id cannot be told from new turns when it is stamped again.
        guard let origin, origin.hasPrompts, !origin.isRemovable else { return }
        turns = Array(origin.turns.prefix(1 + history.random.below(origin.turns.count)))
        let time = history.tick()
        history.append(lines: turns.map { line($0, time) }, to: path)
    }

    private var directory: String { ".grok/sessions/%2Fsrc/\(id)" }
    var path: String { directory + "/updates.jsonl" }

    mutating func complete(_ history: inout History) {
        let time = history.tick() / 1_000 * 1_000
        var parts: [(String, String?)] = []
        let names = Self.models.shuffled(using: &history.random).prefix(history.random.below(3))
        let isWhole = !history.random.chance(4)
        let sum = ModelUsage(&history)
        func add(_ model: String, _ usage: ModelUsage, cost: Double?) {
            history.truth.requests.append(
                .init(
                    time: time, session: id, project: project, model: model, counts: usage.counts,
                    ownCost: isWhole ? cost : nil))
        }
        for name in names {
            let usage = ModelUsage(&history)
            parts.append((name, Written.object(usage.members)))
            // A single model's cost may be only in the sum.
            add(name, usage, cost: usage.cost ?? (names.count == 1 ? sum.cost : nil))
        }
        if names.isEmpty { add("grok-build", sum, cost: sum.cost) }
        let more: [(String, String?)] = [
            ("modelUsage", names.isEmpty ? nil : Written.object(parts)),
            (history.random.pick(["usageIsIncomplete", "costIsPartial"]), isWhole ? nil : "true"),
        ]
        let turn = Turn(prompt: hasPrompts ? "p\(history.unique())" : nil, usage: Written.object(sum.members + more))
        var lines = [line(turn, time)]
        if hasPrompts, names.count == 1, history.random.chance(4) {
            // As it was stated before it had ended.
            let early = Written.object((names.first!, #"{"inputTokens": 1}"#))
            lines.insert(line(Turn(prompt: turn.prompt, usage: "{\"modelUsage\":\(early)}"), time), at: 0)
        }
        history.append(lines: lines, to: path, isNew: turns.isEmpty)
        turns.append(turn)
    }

    private func line(_ turn: Turn, _ time: Int64) -> String {
        let update = Written.object(
            ("sessionUpdate", Written.text("turn_completed")),
            ("prompt_id", turn.prompt.map(Written.text)), ("usage", turn.usage))
        return Written.object(
            ("timestamp", "\(time / 1_000)"), ("method", Written.text("_x.ai/session/update")),
            ("params", Written.object(("sessionId", Written.text(id)), ("update", update))))
    }
}

private struct ModelUsage {
    let counts: TokenCounts
    private let ticks: Int?

    init(_ history: inout History) {
        counts = history.counts()
        ticks = history.random.chance(2) ? 1 + history.random.below(99_999) * 1_000_000 : nil
    }

    var cost: Double? { ticks.map { Double($0) / 1e10 } }

    var members: [(String, String?)] {
        [
            ("inputTokens", "\(counts.prompt)"), ("outputTokens", "\(counts.output)"),
            ("cachedReadTokens", "\(counts.cacheRead)"),
            ("cacheCreationTokens", "\(counts.cacheWrite)"),
            ("reasoningTokens", "\(counts.reasoning)"), ("costUsdTicks", ticks.map { "\($0)" }),
        ]
    }
}
