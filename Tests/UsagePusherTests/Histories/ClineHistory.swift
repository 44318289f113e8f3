import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Tasks of Cline's family: rows that are written when a request begins and when it ends, removed rows, condensations,
/// copies in another editor; and Cline's sessions.
struct ClineHistory: HistoryWriter {
    enum Tool { case cline, roo, kilo }

    let tool: Tool

    var log: any TokenLog {
        switch tool {
        case .cline: ClineTokens()
        case .roo: RooCodeTokens()
        case .kilo: RooCodeTokens.kilo
        }
    }

    func write(_ history: inout History) {
        if tool == .cline, history.chance(2) { return ClineSessionHistory().write(&history) }
        for index in 0..<1 + history.below(3) {
            var task = Task(tool, id: "task\(index)", &history)
            for _ in 0..<1 + history.below(6) { task.request(&history) }
            // The same storage in an editor that has taken over the other's.
            if history.chance(3) { task.copy(&history) }
            for _ in 0..<history.below(3) { task.request(&history) }
        }
    }
}

private struct Task {
    private let tool: ClineHistory.Tool
    private let id: String
    private let model: String?
    private let project: String?
    /// Before Roo Code's prompts were stated as a whole.
    private let isOld: Bool
    private let isOpenAI: Bool
    private var rows: [JSON] = []
    /// What the rows state, by their number.
    private var used: [Int: TrueHistory.Request] = [:]
    private var wasCopied = false

    init(_ tool: ClineHistory.Tool, id: String, _ history: inout History) {
        self.tool = tool
        self.id = id
        model = history.pick([nil, "claude-sonnet-5", "another-one"])
        project = history.pick([nil, "/src/app"])
        isOld = tool != .cline && history.chance(2)
        isOpenAI = history.chance(2)
        let text = [
            model.map { "<model>\($0)</model>" }, project.map { " Current Workspace Directory (\($0)) Files" },
        ].compactMap { $0 }.joined()
        history.replace(
            directory("Code") + "/api_conversation_history.json",
            JSON.list([object(["role": "user", "content": text])]).json)
    }

    private func directory(_ editor: String) -> String {
        let name =
            switch tool {
            case .cline: "saoudrizwan.claude-dev"
            case .roo: "rooveterinaryinc.roo-cline"
            case .kilo: "kilocode.kilo-code"
            }
        return ".config/\(editor)/User/globalStorage/\(name)/tasks/\(id)"
    }

    /// 400 days ago, for what is old.
    private func tick(_ history: inout History) -> Int64 { history.tick() - (isOld ? 400 * 86_400_000 : 0) }

    mutating func request(_ history: inout History) {
        let counts = history.counts(hasReasoning: false)
        let time = tick(&history)
        let cost = history.cost()
        let ownModel = tool == .cline && history.chance(2) ? "claude-opus-5" : nil
        let start = row(time, "api_req_started", object(["request": "x"]))
        if history.chance(2) { write(rows + [start], to: "Code", &history) }
        // A text that says the same is none of a request.
        if history.chance(6) { rows.append(row(time, "text", object(["tokensIn": 1, "tokensOut": 2]))) }
        let isWhole = tool != .cline && (!isOld || isOpenAI)
        let usage = object([
            // Some are cut inside a character.
            "request": history.pick([nil, #"\\ud83d"#]),
            "apiProtocol": tool == .cline ? nil : isOpenAI ? "openai" : "anthropic",
            "tokensIn": isWhole ? counts.prompt : counts.input, "tokensOut": counts.output,
            "cacheReads": counts.cacheRead > 0 ? counts.cacheRead : nil, "cacheWrites": counts.cacheWrite,
            "cost": Double(cost) / 10_000,
        ])
        let say = tool == .cline && history.chance(6) ? "subagent_usage" : "api_req_started"
        add(row(time, say, usage, model: ownModel), time, counts, cost, model: ownModel, &history)
        if tool != .cline, history.chance(6) {
            let time = tick(&history)
            let condensed = object(["cost": 0.0042, "summary": "s"])
            let row = object(["ts": time, "type": "say", "say": "condense_context", "contextCondense": condensed])
            add(row, time, TokenCounts(), 42, &history)
        }
        if !wasCopied, history.chance(6) { removeRows(&history) }
    }

    private mutating func add(
        _ row: JSON, _ time: Int64, _ counts: TokenCounts, _ cost: Int, isCoarse: Bool = false,
        model: String? = nil, _ history: inout History
    ) {
        history.use(counts, at: time, in: id, project, model ?? self.model, dollars: dollars(cost), isCoarse: isCoarse)
        used[rows.count] = history.truth.requests.last
        rows.append(row)
        write(rows, to: "Code", &history)
    }

    /// Restores a checkpoint: of the requests since then the sum is left.
    private mutating func removeRows(_ history: inout History) {
        let count = history.below(rows.count)
        let removed = (count..<rows.count).compactMap { used[$0] }
        // Only what has tokens is kept as a sum, in the form of Cline.
        guard tool == .cline, !removed.isEmpty else { return }
        let times = Set(removed.map(\.time))
        history.truth.remove(id) { times.contains($0.time) ? nil : $0 }
        rows.removeSubrange(count...)
        let sum = removed.reduce(into: TokenCounts()) { $0 += $1.counts }
        let time = tick(&history)
        let text = object([
            "tokensIn": sum.input, "tokensOut": sum.output, "cacheReads": sum.cacheRead, "cacheWrites": sum.cacheWrite,
        ])
        add(row(time, "deleted_api_reqs", text), time, sum, 0, isCoarse: true, &history)
    }

    mutating func copy(_ history: inout History) {
        wasCopied = true
        for name in ["api_conversation_history.json", "ui_messages.json"] {
            let last = history.steps.last { step in
                if case .replace(directory("Code") + "/" + name, _) = step { true } else { false }
            }
            guard case .replace(_, let bytes)? = last else { continue }
            history.add(.replace(directory("Cursor") + "/" + name, bytes))
        }
    }

    private func row(_ time: Int64, _ say: String, _ usage: JSON, model: String? = nil) -> JSON {
        object([
            "ts": time, "type": "say", "say": say, "text": usage.json.replacing("\"", with: "\\\""),
            "modelInfo": model.map { object(["modelId": $0]) },
        ])
    }

    private func write(_ rows: [JSON], to editor: String, _ history: inout History) {
        history.replace(directory(editor) + "/ui_messages.json", JSON.list(rows).json)
    }
}
