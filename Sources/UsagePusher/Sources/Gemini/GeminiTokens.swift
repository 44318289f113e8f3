/// The tokens in the chats of Gemini CLI: a document each up to 0.38, lines since.
struct GeminiTokens: TokenLog {
    let source = "gemini"
    let version = 3

    func roots(in environment: SourceEnvironment) -> [String] {
        [GeminiSource.directory(in: environment) + "/tmp"]
    }

    func isWanted(_ name: String) -> Bool {
        name.hasSuffix(".jsonl") || name.hasPrefix("session-") && name.hasSuffix(".json")
    }

    /// "<project>/chats/session-….jsonl", and of subagents "<project>/chats/<parent>/<session>.jsonl".
    func reader(of file: TokenFile) -> TokenReader? {
        let parts = file.components
        guard parts.count == 4 || parts.count == 3 && file.name.hasPrefix("session-"),
            parts[1] == "chats"
        else { return nil }
        let root = SideFile("\(file.root)/\(parts[0])/.project_root").text
        let reader = GeminiTokenReader(
            name: String(file.name.prefix { $0 != "." }),
            parent: parts.count == 4 ? String(parts[2]) : nil,
            project: root?.displayText(limit: 240) ?? String(parts[0]))
        if file.name.hasSuffix(".jsonl") { return .lines(reader) }
        return .document { bytes, sink in
            var reader = reader
            if !bytes.isEmpty, !reader.read(bytes, to: &sink) { sink.reportTorn() }
        }
    }
}

/// Reads lines; a document is like a line with all messages.
struct GeminiTokenReader: TokenLineReader {
    /// The file's name until its header is read.
    private var session: String
    /// The session that a subagent works for.
    private let parent: String?
    private let project: String

    init(name: String, parent: String?, project: String) {
        session = name
        self.parent = parent
        self.project = project
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        if !read(line, to: &sink) { sink.rejectLine() }
    }

    /// Adds what is whole. Returns whether all is.
    fileprivate mutating func read(_ text: UnsafeRawBufferPointer, to sink: inout TokenSink) -> Bool {
        var cursor = JSONCursor(text)
        var message = Message()
        var messages: JSONCursor?
        guard cursor.enterObject() else { return false }
        while let key = cursor.nextKey() {
            switch key {
            case "sessionId": session = cursor.text()?.displayText ?? session
            case "messages": messages = cursor.branch()
            case "$set": messages = cursor.member("messages") { $0.branch() } ?? messages
            default: message.read(key, &cursor)
            }
        }
        if !cursor.isFailed { add(message, to: &sink) }
        guard var messages, messages.enterArray() else { return !cursor.isFailed }
        while messages.nextElement() {
            var message = Message()
            guard messages.enterObject() else { continue }
            while let key = messages.nextKey() { message.read(key, &messages) }
            if !messages.isFailed { add(message, to: &sink) }
        }
        return !cursor.isFailed
    }

    private func add(_ message: Message, to sink: inout TokenSink) {
        guard message.isReply, message.counts != TokenCounts() || message.isImpossible else { return }
        guard let time = message.time, !message.isImpossible else { return sink.leaveOut() }
        var hash = ContentHash()
        hash.add("gemini")
        hash.add(session)
        if let id = message.id { hash.add(id) } else { hash.add(UInt64(bitPattern: time)) }
        sink.add(
            TokenRecord(
                time: time, counts: message.counts, id: hash.value, identity: message.id == nil ? .foreign : .own),
            session: sink.session(parent ?? session, project: project),
            model: sink.model(message.model))
    }

    private struct Message {
        var id: JSONCursor.Text?
        var time: Int64?
        var isReply = false
        var model: JSONCursor.Text?
        var counts = TokenCounts()
        var isImpossible = false

        mutating func read(_ key: JSONCursor.Text, _ cursor: inout JSONCursor) {
            if key == "id" {
                id = cursor.text()
            } else if key == "timestamp" {
                time = cursor.milliseconds()
            } else if key == "type" {
                isReply = cursor.text().map { $0 == "gemini" } ?? false
            } else if key == "model" {
                model = cursor.text()
            } else if key == "tokens" {
                readTokens(&cursor)
            } else {
                cursor.skip()
            }
        }

        /// Input includes what was cached, but neither tools' results nor does output thoughts.
        private mutating func readTokens(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            var tool = 0
            cursor.hasImpossibleCount = false
            while let key = cursor.nextKey() {
                if key == "tool" {
                    tool = cursor.count() ?? 0
                } else {
                    cursor.readCount(key, Self.names, into: &counts)
                }
            }
            counts.removeCachesFromInput()
            counts.input &+= tool
            counts.output &+= counts.reasoning
            isImpossible = cursor.hasImpossibleCount
        }

        private static let names: JSONCursor.CountNames = [
            ("input", \.input), ("cached", \.cacheRead), ("output", \.output), ("thoughts", \.reasoning),
        ]
    }
}
