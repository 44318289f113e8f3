import StoreTestSupport

@testable import UsagePusher

/// Transcripts of Claude Code: sessions with agents, forks, resumes and restored copies, through the provider and
/// through gateways whose ids tell little.
struct ClaudeHistory: HistoryWriter {
    let log: any TokenLog = ClaudeTokens()

    func write(_ history: inout History) {
        var transcripts: [Transcript] = []
        for index in 0..<1 + history.random.below(4) {
            var transcript = Transcript(session: "s\(index)", &history)
            if let origin = transcripts.randomElement(using: &history.random), history.random.chance(2) {
                transcript.copy(origin, &history)
            }
            transcript.answer(&history)
            transcripts.append(transcript)
            if history.random.chance(4) { transcript.delegate(&history) }
            if history.random.chance(6) {
                // A backup of what was there then, restored beside it.
                history.append(
                    lines: transcript.rows.dropLast(history.random.below(3)).map(\.line),
                    to: ".config/claude/" + transcript.path)
            }
        }
    }
}

/// How the ids of a relay's answers tell them apart.
private enum Relay: CaseIterable {
    case provider, withoutRequests, countingInSession, constant, withoutIDs

    func ids(number: Int, inSession index: Int) -> (answer: String?, request: String?) {
        switch self {
        case .provider: ("msg_\(number)", "req_\(number)")
        case .withoutRequests: ("msg_\(number)", nil)
        case .countingInSession: ("chatcmpl-\(index)", "\(index)")
        case .constant: ("msg", nil)
        case .withoutIDs: (nil, nil)
        }
    }
}

/// A line of a transcript.
private struct Row {
    var time: Int64
    var session: String
    /// The session that it says it was copied from.
    var origin: String?
    var request: String?
    var isSidechain = false
    var type = "assistant"
    var rest: [(String, String?)]

    var line: String {
        Written.object(
            [
                ("type", Written.text(type)), ("timestamp", Written.time(time)), ("sessionId", Written.text(session)),
                ("requestId", request.map(Written.text)), ("isSidechain", isSidechain ? "true" : nil),
                ("forkedFrom", origin.map { Written.object(("sessionId", Written.text($0))) }),
            ] + rest)
    }
}

private struct Transcript {
    let session: String
    private let project: String
    private let relay: Relay
    private(set) var rows: [Row] = []
    private var isNew = true
    private var answerCount = 0
    private var hasIDs: Bool

    private static let models = [
        "claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5", "a-relay-of-its-own",
    ]

    init(session: String, _ history: inout History) {
        self.session = session
        project = history.random.pick(["-src-app", "-src-web"])
        relay = history.random.chance(2) ? .provider : history.random.pick(Relay.allCases)
        hasIDs = relay != .withoutIDs
    }

    var path: String { ".claude/projects/\(project)/\(session).jsonl" }

    /// Begins with rows of another session, as a fork or a resumed session does.
    mutating func copy(_ origin: Transcript, _ history: inout History) {
        guard origin.project == project else { return }
        var copies = history.random.chance(2) ? origin.rows : origin.rows.suffix(3)
        switch history.random.below(3) {
        case 0:
            // Stamped again, what has no id cannot be told from new answers.
            let isStampedAgain = history.random.chance(3) && origin.hasIDs
            for index in copies.indices {
                copies[index].session = session
                copies[index].origin = origin.session
                if isStampedAgain { copies[index].time = history.tick() }
            }
        case 1 where origin.rows.allSatisfy { $0.session == origin.session }:
            // Nothing says which of the two made the requests, nor that one line of an answer that grew is of it.
            copies = origin.rows
            for index in copies.indices { copies[index].session = session }
            let name = history.truth.indistinguishable[origin.session] ?? origin.session
            history.truth.indistinguishable[session] = name
        default: break
        }
        hasIDs = hasIDs && origin.hasIDs
        append(Array(copies), &history)
        // Both ids again, so soon, are those of the same answer.
        let end = (copies.map(\.time).max() ?? history.now) + 120_000
        while relay == .countingInSession, history.now <= end { _ = history.tick() }
    }

    mutating func answer(_ history: inout History) {
        let isSpoken = history.random.chance(2)
        for _ in 0..<1 + history.random.below(6) {
            if isSpoken { append([userRow(&history)], &history) }
            append(answerRows(&history), &history)
        }
    }

    /// An agent's own answers, and repetitions of some of the session's, in a file of their own.
    func delegate(_ history: inout History) {
        var agent = self
        agent.rows = []
        if let row = rows.last(where: { $0.type == "assistant" }), row.request != nil {
            var repeated = row
            repeated.time = history.tick()
            repeated.request = "req_\(history.unique())"
            agent.rows.append(repeated)
        }
        // Both ids of another session's answer, so soon, would be those of the same one.
        let count = relay == .countingInSession ? 0 : history.random.below(3)
        for _ in 0..<count { agent.rows += agent.answerRows(&history) }
        for index in agent.rows.indices { agent.rows[index].isSidechain = true }
        history.append(
            lines: agent.rows.map(\.line),
            to: ".claude/projects/\(project)/\(session)/subagents/agent-\(history.unique()).jsonl")
    }

    private mutating func append(_ new: [Row], _ history: inout History) {
        rows += new
        history.append(lines: new.map(\.line), to: path, isNew: isNew)
        isNew = isNew && new.isEmpty
    }

    private func userRow(_ history: inout History) -> Row {
        let message = Written.object(("role", Written.text("user")), ("content", Written.text("?")))
        return Row(time: history.tick(), session: session, type: "user", rest: [("message", message)])
    }

    /// The rows of an answer, which may grow, and of a search that its tool made.
    private mutating func answerRows(_ history: inout History) -> [Row] {
        let ids = relay.ids(number: history.unique(), inSession: answerCount)
        answerCount += 1
        let model = history.random.pick(Self.models)
        let usage = Usage(&history)
        let cost = history.random.chance(8) ? Double(1 + history.random.below(9_999)) / 10_000 : nil
        func row(_ usage: Usage, _ history: inout History) -> Row {
            Row(
                time: history.tick(within: 60_000), session: session, request: ids.request,
                rest: [
                    ("costUSD", cost.map { "\($0)" }),
                    (
                        "message",
                        Written.object(
                            ("id", ids.answer.map(Written.text)), ("model", Written.text(model)),
                            ("usage", usage.object))
                    ),
                ])
        }
        var rows: [Row] = []
        // Without an id, rows of one answer are those of several.
        if ids.answer != nil, usage.counts.output > 2, history.random.chance(2) {
            rows.append(row(usage.placeholder, &history))
        }
        rows.append(row(usage, &history))
        let time = rows[rows.count - 1].time
        history.truth.requests.append(
            TrueHistory.Request(
                time: time, session: session, project: project, model: model,
                counts: usage.counts, tier: usage.tier, isRegional: usage.isRegional, ownCost: cost)
        )
        if ids.answer != nil, history.random.chance(3) { rows.append(row(usage, &history)) }
        return rows
    }
}

private struct Usage {
    var counts: TokenCounts
    var tier = ServiceTier.standard
    private(set) var isRegional = false
    private var statesSplit = true

    init(_ history: inout History) {
        counts = history.counts(hasSearches: true)
        if history.random.chance(3) {
            counts.cacheWrite1h = history.random.below(counts.cacheWrite5m + 1)
            counts.cacheWrite5m -= counts.cacheWrite1h
        }
        tier = history.random.pick([.standard, .standard, .standard, .fast, .priority, .batch])
        isRegional = history.random.chance(5)
    }

    /// As it is stated before the answer is complete.
    var placeholder: Usage {
        var usage = self
        usage.counts.output = 1
        usage.counts.reasoning = 0
        usage.counts.webSearches = 0
        usage.statesSplit = false
        usage.tier = .standard
        usage.isRegional = false
        return usage
    }

    var object: String {
        Written.object(
            ("input_tokens", "\(counts.input)"),
            ("cache_creation_input_tokens", "\(counts.cacheWrite)"),
            ("cache_read_input_tokens", counts.cacheRead == 0 ? "null" : "\(counts.cacheRead)"),
            ("output_tokens", "\(counts.output)"),
            (
                "cache_creation",
                statesSplit
                    ? Written.object(
                        ("ephemeral_5m_input_tokens", "\(counts.cacheWrite5m)"),
                        ("ephemeral_1h_input_tokens", "\(counts.cacheWrite1h)")) : nil
            ),
            (
                "output_tokens_details",
                counts.reasoning == 0 ? nil : Written.object(("thinking_tokens", "\(counts.reasoning)"))
            ),
            (
                "server_tool_use",
                counts.webSearches == 0 ? nil : Written.object(("web_search_requests", "\(counts.webSearches)"))
            ),
            ("service_tier", tier == .fast ? nil : Written.text("\(tier)")),
            ("inference_geo", Written.text(isRegional ? "us" : "global")),
            ("speed", Written.text(tier == .fast ? "fast" : "standard")))
    }
}
