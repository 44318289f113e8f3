import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Chats of Gemini CLI: documents, lines and documents that became lines; messages that are written again, set as a
/// whole and rewound; subagents; and chats of other writers, whose messages have no ids.
struct GeminiHistory: HistoryWriter {
    let log: any TokenLog = GeminiTokens()

    func write(_ history: inout History) {
        history.append("/src/web\n", to: ".gemini/tmp/web/.project_root")
        for index in 0..<1 + history.random.below(4) {
            var chat = Chat(session: "s\(index)", &history)
            for _ in 0..<1 + history.random.below(5) { chat.answer(&history) }
            guard chat.isDocument, history.random.chance(2) else { continue }
            chat.becomeLines(&history)
            for _ in 0..<history.random.below(3) { chat.answer(&history) }
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
    private var messages: [String] = []
    private var isNew = true

    private static let models = ["gemini-3.1-pro-preview", "gemini-2.5-flash", "another-one"]

    init(session: String, _ history: inout History) {
        self.session = session
        directory = history.random.pick(["app", "web"])
        hasIDs = !history.random.chance(6)
        parent = history.random.chance(6) ? "parent" : nil
        isDocument = parent == nil && history.random.chance(3)
    }

    private var path: String {
        let file = parent.map { $0 + "/" + session } ?? "session-2026-11-20T09-00-\(session)"
        return ".gemini/tmp/\(directory)/chats/\(file)" + (isDocument ? ".json" : ".jsonl")
    }

    private var header: [(String, String?)] {
        [("sessionId", Written.text(session)), ("projectHash", Written.text("ab12"))]
    }

    mutating func answer(_ history: inout History) {
        let counts = history.counts(hasWrites: false)
        let model = history.random.pick(Self.models)
        let time = history.tick()
        let id = hasIDs ? Written.text("m\(history.unique())") : nil
        let tool = history.random.chance(3) ? history.random.below(counts.input + 1) : nil
        let tokens = Written.object(
            ("input", "\(counts.prompt - (tool ?? 0))"),
            ("output", "\(counts.output - counts.reasoning)"),
            ("cached", "\(counts.cacheRead)"),
            ("thoughts", counts.reasoning > 0 ? "\(counts.reasoning)" : nil),
            ("tool", tool.map { "\($0)" }),
            ("total", history.random.pick(["0", "\(counts.total)"])))
        func message(_ tokens: String?) -> String {
            Written.object(
                ("id", id), ("timestamp", Written.time(time)), ("type", Written.text("gemini")),
                ("content", Written.text("hi")), ("tokens", tokens), ("model", Written.text(model)))
        }
        history.truth.requests.append(
            .init(
                time: time, session: parent ?? session,
                project: directory == "web" ? "/src/web" : directory, model: model, counts: counts))
        var lines = [message(tokens)]
        if history.random.chance(2) {
            let quoted = message(tokens).replacing("\"gemini\"", with: "\"user\"")
            lines.insert(history.random.pick([message("null"), message(nil), quoted]), at: 0)
        }
        // With its tools' calls, and by a version that has forgotten the tokens.
        if history.random.chance(3) {
            lines.append(message(history.random.pick([tokens, "null"])))
        }
        messages.append(message(tokens))
        if isDocument { return replace(&history) }
        if history.random.chance(4) {
            let set = messages.suffix(1 + history.random.below(3)).joined(separator: ",")
            lines.append("{\"$set\":{\"lastUpdated\":\"\",\"messages\":[\(set)]}}")
        }
        if history.random.chance(6) { lines.append(#"{"$rewindTo":"m1"}"#) }
        append(lines, &history)
    }

    /// Resumes the document with a version that writes lines.
    mutating func becomeLines(_ history: inout History) {
        isDocument = false
        append(messages, &history)
    }

    private mutating func append(_ lines: [String], _ history: inout History) {
        let start = isNew ? [Written.object(header)] : []
        history.append(lines: start + lines, to: path, isNew: isNew)
        isNew = false
    }

    private func replace(_ history: inout History) {
        let list = ("messages", Optional("[\(messages.joined(separator: ","))]"))
        let document = Written.object(history.random.chance(2) ? header + [list] : [list] + header)
        if history.random.chance(4) {
            history.add(.replace(path, Data(document.utf8.prefix(history.random.below(document.utf8.count)))))
        }
        history.add(.replace(path, Data(document.utf8)))
    }
}
