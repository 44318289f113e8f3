import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Chats of Gemini CLI: documents, lines and documents that became lines; messages that are written again, set as a
/// whole and rewound; subagents; chats of other writers, whose messages have no ids; and a document that is cut off.
struct GeminiHistory: HistoryWriter {
    let log: any TokenLog = GeminiTokens()

    func write(_ history: inout History) {
        history.append("/src/web\n", to: ".gemini/tmp/web/.project_root")
        for index in 0..<1 + history.below(4) {
            var chat = Chat(session: "s\(index)", &history)
            for _ in 0..<1 + history.below(5) { chat.answer(&history) }
            if chat.isDocument, history.truth.cutOff == nil, history.chance(4) {
                chat.cutOff(&history)
                continue
            }
            guard chat.isDocument, history.chance(2) else { continue }
            chat.becomeLines(&history)
            for _ in 0..<history.below(3) { chat.answer(&history) }
        }
    }
}

private struct Chat {
    private(set) var isDocument: Bool
    private let session: String
    private let directory: String
    private let hasIDs: Bool
    /// The session of which it is a subagent's.
    private let parent: String?
    /// As they are written last.
    private var messages: [JSON] = []
    private var times: [Int64] = []
    private var isNew = true

    private static let models = ["gemini-3.1-pro-preview", "gemini-2.5-flash", "another-one"]

    init(session: String, _ history: inout History) {
        self.session = session
        directory = history.pick(["app", "web"])
        hasIDs = !history.chance(6)
        parent = history.chance(6) ? "parent" : nil
        isDocument = parent == nil && history.chance(3)
    }

    private var path: String {
        let file = parent.map { $0 + "/" + session } ?? "session-2026-11-20T09-00-\(session)"
        return ".gemini/tmp/\(directory)/chats/\(file)" + (isDocument ? ".json" : ".jsonl")
    }

    private var header: JSON { object(["sessionId": session, "projectHash": "ab12"]) }

    mutating func answer(_ history: inout History) {
        let counts = history.counts(hasWrites: false)
        let model = history.pick(Self.models)
        let time = history.tick()
        let id = hasIDs ? "m\(history.unique())" : nil
        let tool = history.chance(3) ? history.below(counts.input + 1) : nil
        let tokens = object([
            "input": counts.prompt - (tool ?? 0), "output": counts.output - counts.reasoning,
            "cached": counts.cacheRead, "thoughts": counts.reasoning > 0 ? counts.reasoning : nil, "tool": tool,
            "total": history.pick([0, counts.total]),
        ])
        func message(_ tokens: JSON?, type: String = "gemini") -> JSON {
            object([
                "id": id, "timestamp": iso(time), "type": type, "content": "hi", "tokens": tokens, "model": model,
            ])
        }
        history.use(counts, at: time, in: parent ?? session, directory == "web" ? "/src/web" : directory, model)
        var lines = [message(tokens)]
        if history.chance(2) {
            lines.insert(history.pick([message(.null), message(nil), message(tokens, type: "user")]), at: 0)
        }
        // With its tools' calls, and by a version that has forgotten the tokens.
        if history.chance(3) { lines.append(message(history.pick([tokens, .null]))) }
        messages.append(message(tokens))
        times.append(time)
        if isDocument { return replace(&history) }
        if history.chance(4) {
            let set = JSON.list(messages.suffix(1 + history.below(3)))
            lines.append(object(["$set": object(["lastUpdated": "", "messages": set])]))
        }
        if history.chance(6) { lines.append(object(["$rewindTo": "m1"])) }
        append(lines, &history)
    }

    /// Writes only a part of the document, with some of its messages.
    mutating func cutOff(_ history: inout History) {
        let keptCount = history.below(messages.count + 1)
        let times = Set(times[keptCount...])
        history.truth.requests.removeAll { times.contains($0.time) }
        let whole = (header + object(["messages": JSON.list(messages)])).json
        let kept = (header + object(["messages": JSON.list(Array(messages[..<keptCount]))])).json.dropLast(2)
        let rest = keptCount < messages.count ? messages[keptCount].json.count : 2
        history.replace(path, whole.prefix(kept.count + history.below(rest)))
        history.truth.cutOff = path
    }

    /// Resumes the document with a version that writes lines.
    mutating func becomeLines(_ history: inout History) {
        isDocument = false
        append(messages, &history)
    }

    private mutating func append(_ lines: [JSON], _ history: inout History) {
        history.append(lines: (isNew ? [header] : []) + lines, to: path, isNew: isNew)
        isNew = false
    }

    private func replace(_ history: inout History) {
        let list = object(["messages": JSON.list(messages)])
        let document = (history.chance(2) ? header + list : list + header).json
        if history.chance(4) { history.replace(path, document.prefix(history.below(document.count))) }
        history.replace(path, document)
    }
}
