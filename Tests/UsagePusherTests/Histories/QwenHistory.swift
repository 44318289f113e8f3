import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Qwen Code before and since it has a ledger: chats, branches with and without the chat that they are of, subagents.
struct QwenHistory: HistoryWriter {
    let log: any TokenLog = QwenTokens()

    func write(_ history: inout History) {
        var chats: [Chat] = []
        var begun: Set<String> = []
        for index in 0..<1 + history.random.below(4) {
            var chat = Chat(
                session: "s\(index)",
                of: history.random.chance(2) ? chats.randomElement(using: &history.random) : nil,
                &history)
            for _ in 0..<1 + history.random.below(5) { chat.answer(&begun, &history) }
            if history.random.chance(4) { chat.delegate(&begun, &history) }
            chats.append(chat)
        }
        let gone = chats.first { chat in
            // For a session in the ledger the chat says which project it is of.
            !chat.hasLedger && chat.origin == nil && chats.count { $0.origin == chat.session } < 2
        }
        guard let gone, history.random.chance(2) else { return }
        history.add(.remove(gone.path))
        let branch = chats.first { $0.origin == gone.session }
        history.truth.requests = history.truth.requests.compactMap { request in
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
        var rest: [(String, String?)]
    }

    var path: String { ".qwen/projects/-src-app/chats/\(session).jsonl" }

    init(session: String, of origin: Chat?, _ history: inout History) {
        self.session = session
        self.origin = origin?.session
        hasLedger = origin?.hasLedger ?? history.random.chance(2)
        var lines = [row([("type", Written.text("user"))], &history).0]
        if let origin {
            rows = origin.rows
            copiedTimes = Set(rows.map(\.time))
            lines = rows.map { line($0, of: origin.session) } + lines
        }
        history.append(lines: lines, to: path)
    }

    private func line(_ row: Row, of origin: String? = nil) -> String {
        let forked = origin.map {
            Written.object(("sessionId", Written.text($0)), ("messageUuid", Written.text("u")))
        }
        return Written.object(
            [
                ("sessionId", Written.text(session)), ("timestamp", Written.time(row.time)), ("forkedFrom", forked),
            ] + row.rest)
    }

    private func row(_ rest: [(String, String?)], _ history: inout History) -> (String, Row) {
        let row = Row(time: history.tick(within: 100), rest: [("uuid", Written.text("u\(history.unique())"))] + rest)
        return (line(row), row)
    }

    mutating func answer(_ begun: inout Set<String>, _ history: inout History) {
        let response = Response(model: history.random.pick(Response.models), &history)
        let (text, row) = row(
            [
                ("type", Written.text("assistant")), ("usageMetadata", response.metadata),
                ("model", Written.text(response.model)),
            ], &history)
        let isSpoken = !hasLedger || !history.random.chance(4)
        if hasLedger {
            response.write(session, history.tick(within: 100), project: "-src-app", &begun, &history)
            // Two at once may have the same numbers.
            if history.random.chance(8) {
                response.write(session, history.tick(within: 100), project: "-src-app", &begun, &history)
            }
        } else {
            history.truth.requests.append(
                .init(
                    time: row.time, session: session, project: "-src-app", model: response.model,
                    counts: response.counts))
        }
        guard isSpoken else { return }
        rows.append(row)
        times.insert(row.time)
        let telemetry = self.row([("type", Written.text("system")), ("usageMetadata", response.metadata)], &history).0
        history.append(lines: history.random.chance(2) ? [text, telemetry] : [text], to: path, isNew: false)
    }

    /// A subagent's responses, in a file of its own without models.
    mutating func delegate(_ begun: inout Set<String>, _ history: inout History) {
        let path = ".qwen/projects/-src-app/subagents/\(session)/agent-\(history.unique())"
        let model = history.random.pick(Response.models)
        history.add(.replace(path + ".meta.json", Data(Written.object(("model", Written.text(model))).utf8)))
        var lines: [String] = []
        for _ in 0..<1 + history.random.below(3) {
            let response = Response(model: model, &history)
            let (text, row) = row(
                [("type", Written.text("assistant")), ("usageMetadata", response.metadata)], &history)
            lines.append(text)
            if hasLedger {
                response.write(session, history.tick(within: 100), project: "-src-app", &begun, &history)
            } else {
                history.truth.requests.append(
                    .init(time: row.time, session: session, project: "-src-app", model: model, counts: response.counts))
            }
        }
        history.append(lines: lines, to: path + ".jsonl")
    }
}

private struct Response {
    let model: String
    let counts: TokenCounts
    private let output: Int
    private let total: Int

    static let models = ["qwen3-coder-plus", "claude-sonnet-5", "gemini-2.5-pro"]

    init(model: String, _ history: inout History) {
        self.model = model
        counts = history.counts(hasWrites: false)
        // In Google's protocol thoughts are beside the output.
        output = model.hasPrefix("gemini") ? counts.output - counts.reasoning : counts.output
        total = counts.total
    }

    var metadata: String {
        Written.object(
            ("promptTokenCount", "\(counts.prompt)"), ("candidatesTokenCount", "\(output)"),
            ("thoughtsTokenCount", "\(counts.reasoning)"), ("totalTokenCount", "\(total)"),
            ("cachedContentTokenCount", "\(counts.cacheRead)"))
    }

    /// Writes it to the ledger.
    func write(
        _ session: String, _ time: Int64, project: String, _ begun: inout Set<String>, _ history: inout History
    ) {
        let text = Written.time(time)
        let line = Written.object(
            ("schemaVersion", "1"), ("id", Written.text("r\(history.unique())")),
            ("timestamp", text),
            ("sessionId", Written.text(session)), ("model", Written.text(model)),
            ("inputTokens", "\(counts.prompt)"), ("outputTokens", "\(output)"),
            ("cachedTokens", "\(counts.cacheRead)"), ("thoughtsTokens", "\(counts.reasoning)"),
            ("totalTokens", "\(total)"))
        let path = ".qwen/usage/token-usage-\(text.dropFirst().prefix(7)).jsonl"
        let isNew = begun.insert(path).inserted
        let copies = history.random.chance(12) ? [line, line] : [line]
        history.append(lines: copies, to: path, isNew: isNew)
        history.truth.requests.append(
            .init(time: time, session: session, project: project, model: model, counts: counts))
    }
}
