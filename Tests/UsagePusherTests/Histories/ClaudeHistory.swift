import StoreTestSupport

@testable import UsagePusher

/// Transcripts of Claude Code: sessions with agents, forks, resumes and restored copies, through the provider and
/// through gateways whose ids tell little, and which estimate prompts until an answer ends.
struct ClaudeHistory: HistoryWriter {
    let log: any TokenLog = ClaudeTokens()

    func write(_ history: inout History) {
        var removable: [Transcript] = []
        let transcripts: [Transcript] = history.sessions { index, origin, history in
            // Nothing follows from the order of names.
            var transcript = Transcript(session: "s\(index)-\(history.below(1_000))", &history)
            if let origin { transcript.copy(origin, &history) }
            transcript.answer(&history)
            if history.chance(4) { transcript.delegate(&history) }
            if history.chance(6) {
                // A backup of what was there then, restored beside it.
                let rows = transcript.rows.dropLast(history.below(3))
                history.append(lines: rows.map(\.line), to: ".config/claude/" + transcript.path)
            } else if !transcript.hasAgent {
                removable.append(transcript)
            }
            return transcript
        }
        if !removable.isEmpty, history.chance(3) { remove(history.pick(removable), of: transcripts, &history) }
    }

    /// Deletes a session's file. What another session has copied is then that one's.
    private func remove(_ gone: Transcript, of transcripts: [Transcript], _ history: inout History) {
        let own = history.truth.requests.indices.filter { history.truth.requests[$0].session == gone.session }
        let heirs = transcripts.filter { transcript in
            transcript.session != gone.session && transcript.rows.contains { own.contains(where: $0.answers.contains) }
        }
        // Nothing tells which of several it is.
        guard heirs.count < 2 else { return }
        history.add(.remove(gone.path))
        for index in own.reversed() {
            if let row = heirs.first?.rows.first(where: { $0.answers.contains(index) }) {
                history.truth.requests[index].session = row.session
                history.truth.requests[index].time = row.time
            } else {
                history.truth.requests.remove(at: index)
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

    /// Without these only a line of the user, as there is one in every transcript, tells an answer from the one before.
    var hasUniqueIDs: Bool { self == .provider || self == .withoutRequests }
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
    /// The requests that it states in full, as indices in the truth.
    var answers = 0..<0
    var cost: Double?
    /// The line's own id and that of the line that it follows, where these are stated.
    var id: String?
    var parent: String?
    var message: JSON

    var line: JSON {
        let answer = object(["timestamp": iso(time), "requestId": request, "costUSD": cost, "message": message])
        let head = object([
            "parentUuid": parent, "type": type, "sessionId": session, "uuid": id,
            "forkedFrom": origin.map { object(["sessionId": $0]) },
        ])
        guard type == "progress" else { return head + object(["isSidechain": isSidechain ? true : nil]) + answer }
        let data = object(["type": "agent_progress", "message": answer])
        return head + object(["data": data, "timestamp": iso(time + 86_400_000)])
    }
}

extension Row {
    fileprivate func following(_ row: Row, as id: String?) -> Row {
        var next = self
        next.id = id
        next.parent = row.id
        return next
    }
}

private struct Transcript {
    let session: String
    private let project: String
    private let relay: Relay
    private(set) var rows: [Row] = []
    private(set) var hasAgent = false
    private var isNew = true
    private var answerCount = 0
    private var hasIDs: Bool
    /// Whether lines state their ids, and the last one of an answer why it has ended.
    private let statesChain: Bool
    private let statesEnds: Bool

    /// How soon one line of an answer follows another, at most, in milliseconds.
    private static let pause = 20_000
    private static let models = ["claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5", "a-relay-of-its-own"]

    init(session: String, _ history: inout History) {
        self.session = session
        project = history.pick(["-src-app", "-src-web"])
        relay = history.chance(2) ? .provider : history.pick(Relay.allCases)
        hasIDs = relay != .withoutIDs
        statesChain = history.chance(2)
        statesEnds = history.chance(2)
    }

    var path: String { ".claude/projects/\(project)/\(session).jsonl" }

    /// Begins with rows of another session, as a fork or a resumed session does.
    mutating func copy(_ origin: Transcript, _ history: inout History) {
        guard origin.project == project else { return }
        var copies = history.chance(2) ? origin.rows : origin.rows.suffix(3)
        switch history.below(3) {
        case 0:
            // Stamped again, what has no id cannot be told from new answers.
            let isStampedAgain = history.chance(3) && origin.hasIDs
            for index in copies.indices {
                copies[index].session = session
                copies[index].origin = origin.session
                if isStampedAgain { copies[index].time = history.tick(within: Self.pause) }
            }
        case 1 where origin.rows.allSatisfy { $0.session == origin.session }:
            // Nothing says which of the two made the requests, nor that one line of an answer that grew is of it.
            copies = origin.rows
            for index in copies.indices { copies[index].session = session }
            history.truth.confuse(session, with: origin.session)
        default: break
        }
        hasIDs = hasIDs && origin.hasIDs
        append(Array(copies), &history)
        // Both ids again, so soon, are those of the same answer.
        let end = (copies.map(\.time).max() ?? history.now) + 120_000
        while relay == .countingInSession, history.now <= end { _ = history.tick() }
    }

    mutating func answer(_ history: inout History) {
        let isSpoken = history.chance(2)
        for _ in 0..<1 + history.below(6) {
            if isSpoken || !relay.hasUniqueIDs { append([userRow(&history)], &history) }
            append(answerRows(&history), &history)
        }
    }

    /// An agent's own answers, and repetitions of some of the session's, in a file of their own, and since lately in
    /// the session's as well.
    mutating func delegate(_ history: inout History) {
        hasAgent = true
        var agent = self
        agent.rows = []
        if let row = rows.last(where: { $0.type == "assistant" }), row.request != nil {
            var repeated = row
            repeated.time = history.tick()
            repeated.request = "req_\(history.unique())"
            agent.rows.append(repeated)
        }
        // Both ids of another session's answer, so soon, would be those of the same one.
        let count = relay == .countingInSession ? 0 : history.below(3)
        for _ in 0..<count { agent.rows += [agent.userRow(&history)] + agent.answerRows(&history) }
        for index in agent.rows.indices { agent.rows[index].isSidechain = true }
        history.append(
            lines: agent.rows.map(\.line),
            to: ".claude/projects/\(project)/\(session)/subagents/agent-\(history.unique()).jsonl")
        guard history.chance(2) else { return }
        for index in agent.rows.indices { agent.rows[index].type = "progress" }
        append(agent.rows, &history)
    }

    private mutating func append(_ new: [Row], _ history: inout History) {
        rows += new
        history.append(lines: new.map(\.line), to: path, isNew: isNew)
        isNew = isNew && new.isEmpty
    }

    private func userRow(within limit: Int = 86_400_000, _ history: inout History) -> Row {
        let message = object(["role": "user", "content": "?"])
        return Row(
            time: history.tick(within: limit), session: session, type: "user", id: lineID(&history), message: message)
    }

    private func lineID(_ history: inout History) -> String? { statesChain ? "u\(history.unique())" : nil }

    /// Lines of an answer before its last ones. What a tool returned meanwhile may be between.
    private func early(_ row: Row, knowsAnswer: Bool, _ history: inout History) -> [Row] {
        guard history.chance(3) else { return [row] }
        var next = row
        next.time = history.tick(within: Self.pause)
        guard knowsAnswer, history.chance(2) else { return [row, next.following(row, as: lineID(&history))] }
        let result = userRow(within: Self.pause, &history)
        next.time = history.tick(within: Self.pause)
        return [row, result, next.following(row, as: lineID(&history))]
    }

    /// The rows of an answer, which may grow, and of a search that its tool made.
    private mutating func answerRows(_ history: inout History) -> [Row] {
        let ids = relay.ids(number: history.unique(), inSession: answerCount)
        answerCount += 1
        let model = history.pick(Self.models)
        var usage = Usage(&history)
        if history.chance(8) { usage.adviser = history.counts(hasReasoning: false) }
        let cost = history.chance(8) ? dollars(1 + history.below(9_999)) : nil
        let first = history.truth.requests.count
        func row(_ usage: Usage, answers: Int, _ history: inout History) -> Row {
            let end = answers > 0 && statesEnds ? "end_turn".json : "null"
            return Row(
                time: history.tick(within: Self.pause), session: session, request: ids.request,
                answers: first..<first + answers, cost: cost, id: lineID(&history),
                message: object([
                    "id": ids.answer, "model": model, "stop_reason": JSON(json: end), "usage": usage.written,
                ]))
        }
        let count = usage.adviser == nil ? 1 : 2
        var rows: [Row] = []
        // Without an id, rows of one answer are those of several.
        if ids.answer != nil, usage.counts.output > 2, history.chance(2) {
            let beginning = history.chance(2) ? usage.estimate(&history) : usage.placeholder
            rows = early(
                row(beginning, answers: 0, &history), knowsAnswer: statesChain || ids.request != nil, &history)
        }
        let end = row(usage, answers: count, &history)
        rows.append(rows.last.map { end.following($0, as: end.id) } ?? end)
        history.use(
            usage.counts, at: rows[rows.count - 1].time, in: session, project, model, dollars: cost, tier: usage.tier,
            isRegional: usage.isRegional)
        if let counts = usage.adviser {
            history.use(counts, at: rows[rows.count - 1].time, in: session, project, Usage.adviserModel)
        }
        if ids.answer != nil, history.chance(3) { rows.append(row(usage, answers: count, &history)) }
        return rows
    }
}

private struct Usage {
    var counts: TokenCounts
    var tier = ServiceTier.standard
    private(set) var isRegional = false
    /// What a model that was asked for advice meanwhile has used.
    var adviser: TokenCounts?
    private var statesSplit = true
    private let beginsWithSplit: Bool

    static let adviserModel = "claude-fable-5"

    init(_ history: inout History) {
        counts = history.counts(hasSearches: true)
        if history.chance(3) {
            counts.cacheWrite1h = history.below(counts.cacheWrite5m + 1)
            counts.cacheWrite5m -= counts.cacheWrite1h
        }
        // Without it, what was written is kept for five minutes.
        if counts.cacheWrite1h == 0 { statesSplit = history.chance(2) }
        beginsWithSplit = history.chance(3)
        tier = history.pick([.standard, .standard, .standard, .fast, .priority, .batch])
        isRegional = history.chance(5)
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
        usage.adviser = nil
        return usage
    }

    /// As a gateway states it that learns the prompt's counts at the end.
    func estimate(_ history: inout History) -> Usage {
        var usage = placeholder
        usage.counts = history.counts(hasReasoning: false)
        usage.counts.output = history.below(2)
        return usage
    }

    var written: JSON {
        let writes = object([
            "ephemeral_5m_input_tokens": counts.cacheWrite5m, "ephemeral_1h_input_tokens": counts.cacheWrite1h,
        ])
        let split = object(["cache_creation": statesSplit ? writes : nil])
        let sums = Self.sums(counts)
        let rest = object([
            "output_tokens_details": counts.reasoning == 0 ? nil : object(["thinking_tokens": counts.reasoning]),
            "server_tool_use": counts.webSearches == 0 ? nil : object(["web_search_requests": counts.webSearches]),
            "service_tier": tier == .fast ? nil : "\(tier)", "inference_geo": isRegional ? "us" : "global",
            "speed": tier == .fast ? "fast" : "standard", "iterations": iterations,
        ])
        return (beginsWithSplit ? split + sums : sums + split) + rest
    }

    private var iterations: JSON? {
        adviser.map { advice in
            let answer = object(["type": "message"]) + Self.sums(counts)
            let adviser = object(["type": "advisor_message", "model": Self.adviserModel]) + Self.sums(advice)
            return .list([answer, adviser])
        }
    }

    private static func sums(_ counts: TokenCounts) -> JSON {
        object([
            "input_tokens": counts.input, "cache_creation_input_tokens": counts.cacheWrite,
            "cache_read_input_tokens": counts.cacheRead == 0 ? JSON.null : JSON(json: "\(counts.cacheRead)"),
            "output_tokens": counts.output,
        ])
    }
}
