import StoreTestSupport

@testable import UsagePusher

/// Qwen Code before and since it has a ledger: chats, branches with and without the chat that they are of, subagents.
struct QwenHistory: HistoryWriter {
    let log: any TokenLog = QwenTokens()

    func write(_ history: inout History) {
        var begun: Set<String> = []
        let chats: [Chat] = history.sessions { index, origin, history in
            var chat = Chat(session: "s\(index)", of: origin, &history)
            for _ in 0..<1 + history.below(5) { chat.answer(&begun, &history) }
            if history.chance(4) { chat.delegate(&begun, &history) }
            return chat
        }
        let gone = chats.first { chat in
            // For a session in the ledger the chat says which project it is of.
            !chat.hasLedger && chat.origin == nil && chats.count { $0.origin == chat.session } < 2
        }
        guard let gone, history.chance(2) else { return }
        history.add(.remove(gone.path))
        let branch = chats.first { $0.origin == gone.session }
        history.truth.remove(gone.session) { request in
            guard gone.times.contains(request.time) else { return request }
            guard let branch, branch.copiedTimes.contains(request.time) else { return nil }
            var moved = request
            moved.session = branch.session
            return moved
        }
    }
}

private struct Chat {
    let session: String
    let origin: String?
    let hasLedger: Bool
    /// The responses that are in its lines.
    private(set) var times: Set<Int64> = []
    private(set) var copiedTimes: Set<Int64> = []
    private var rows: [Row] = []

    private struct Row {
        var time: Int64
        /// The members besides the session and what it is copied from.
        var rest: JSON
    }

    private static let project = "-src-app"
    var path: String { ".qwen/projects/\(Self.project)/chats/\(session).jsonl" }

    init(session: String, of origin: Chat?, _ history: inout History) {
        self.session = session
        self.origin = origin?.session
        hasLedger = origin?.hasLedger ?? history.chance(2)
        var lines = [line(row(object(["type": "user"]), &history))]
        if let origin {
            rows = origin.rows
            copiedTimes = Set(rows.map(\.time))
            lines = rows.map { line($0, of: origin.session) } + lines
        }
        history.append(lines: lines, to: path)
    }

    private func line(_ row: Row, of origin: String? = nil) -> JSON {
        let forked = origin.map { object(["sessionId": $0, "messageUuid": "u"]) }
        return object(["sessionId": session, "timestamp": iso(row.time), "forkedFrom": forked]) + row.rest
    }

    private func row(_ rest: JSON, _ history: inout History) -> Row {
        Row(time: history.tick(within: 100), rest: object(["uuid": "u\(history.unique())"]) + rest)
    }

    /// A response, in the ledger or only in the line.
    private func add(_ response: Response, in row: Row, _ begun: inout Set<String>, _ history: inout History) {
        guard hasLedger else {
            return history.use(response.counts, at: row.time, in: session, Self.project, response.model)
        }
        let time = history.tick(within: 100)
        response.write(session, time, &begun, &history)
        history.use(response.counts, at: time, in: session, Self.project, response.model)
    }

    mutating func answer(_ begun: inout Set<String>, _ history: inout History) {
        let response = Response(model: history.pick(Response.models), &history)
        let members =
            ["type": "assistant", "usageMetadata": response.metadata, "model": response.model]
            as KeyValuePairs<String, (any Writable)?>
        let row = row(object(members), &history)
        let isSpoken = !hasLedger || !history.chance(4)
        add(response, in: row, &begun, &history)
        // Two at once may have the same numbers.
        if hasLedger, history.chance(8) { add(response, in: row, &begun, &history) }
        guard isSpoken else { return }
        rows.append(row)
        times.insert(row.time)
        let telemetry = self.row(object(["type": "system", "usageMetadata": response.metadata]), &history)
        let lines = history.chance(2) ? [row, telemetry] : [row]
        history.append(lines: lines.map { line($0) }, to: path, isNew: false)
    }

    /// A subagent's responses, in a file of its own without models.
    mutating func delegate(_ begun: inout Set<String>, _ history: inout History) {
        let path = ".qwen/projects/\(Self.project)/subagents/\(session)/agent-\(history.unique())"
        let model = history.pick(Response.models)
        history.replace(path + ".meta.json", object(["model": model]).json)
        var lines: [JSON] = []
        for _ in 0..<1 + history.below(3) {
            let response = Response(model: model, &history)
            let row = row(object(["type": "assistant", "usageMetadata": response.metadata]), &history)
            lines.append(line(row))
            add(response, in: row, &begun, &history)
        }
        history.append(lines: lines, to: path + ".jsonl")
    }
}

private struct Response {
    let model: String
    let counts: TokenCounts
    private let output: Int

    static let models = ["qwen3-coder-plus", "claude-sonnet-5", "gemini-2.5-pro"]

    init(model: String, _ history: inout History) {
        self.model = model
        counts = history.counts(hasWrites: false)
        // In Google's protocol thoughts are beside the output.
        output = model.hasPrefix("gemini") ? counts.output - counts.reasoning : counts.output
    }

    var metadata: JSON {
        object([
            "promptTokenCount": counts.prompt, "candidatesTokenCount": output, "thoughtsTokenCount": counts.reasoning,
            "totalTokenCount": counts.total, "cachedContentTokenCount": counts.cacheRead,
        ])
    }

    /// Writes it to the ledger.
    func write(_ session: String, _ time: Int64, _ begun: inout Set<String>, _ history: inout History) {
        let line = object([
            "schemaVersion": 1, "id": "r\(history.unique())", "timestamp": iso(time), "sessionId": session,
            "model": model, "inputTokens": counts.prompt, "outputTokens": output, "cachedTokens": counts.cacheRead,
            "thoughtsTokens": counts.reasoning, "totalTokens": counts.total,
        ])
        let path = ".qwen/usage/token-usage-\(iso(time).prefix(7)).jsonl"
        let isNew = begun.insert(path).inserted
        history.append(lines: history.chance(12) ? [line, line] : [line], to: path, isNew: isNew)
    }
}
