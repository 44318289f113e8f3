import LocalFiles

/// The tokens in the ledger of Qwen Code, one line for each response, and in its chats, which repeat most of them and
/// are there for older ones too.
///
/// A response has the same session and numbers in both, and the numbers of a session's responses differ. That is the
/// id; a chat's record is a repetition of the ledger's, which counts if there is one.
struct QwenTokens: TokenLog {
    let source = "qwen"
    let version = 2

    func roots(in environment: SourceEnvironment) -> [String] {
        QwenSource.directories(in: environment).flatMap { [$0 + "/usage", $0 + "/projects"] }
    }

    func isWanted(_ name: String) -> Bool { name.hasSuffix(".jsonl") }

    /// "token-usage-<month>.jsonl"; "<project>/chats/<session>.jsonl" and
    /// "<project>/subagents/<session>/agent-<id>.jsonl".
    func reader(of file: TokenFile) -> TokenReader? {
        if file.root.hasSuffix("/usage") {
            guard file.name.hasPrefix("token-usage-") else { return nil }
            let directory = file.root.dropLast("/usage".count) + "/projects"
            return .lines(QwenLedgerReader(projectsDirectory: String(directory)))
        }
        let parts = file.components
        let stem = file.name.dropLast(".jsonl".count)
        if parts.count == 3, parts[1] == "chats" {
            return .lines(QwenChatReader(session: String(stem), project: String(parts[0])))
        }
        guard parts.count == 4, parts[1] == "subagents" else { return nil }
        let meta = SideFile(file.path.dropLast(".jsonl".count) + ".meta.json").fields
        return .lines(
            QwenChatReader(
                session: String(parts[2]), project: String(parts[0]), model: meta?.text("model"), isSubagent: true))
    }
}

/// The numbers of a response as one of the files states them: what was cached is a part of the input.
private struct QwenUsage {
    var stated = TokenCounts()
    var total = 0

    /// Thoughts are a part of the output, unless the total counts them besides.
    var counts: TokenCounts {
        var counts = stated
        if total >= stated.input &+ stated.output &+ stated.reasoning {
            counts.output &+= stated.reasoning
        }
        counts.removeCachesFromInput()
        return counts
    }

    func id(session: JSONCursor.Text?, orIn name: String) -> UInt64 {
        var hash = ContentHash()
        hash.add("qwen")
        if let session { hash.add(session) } else { hash.add(name) }
        hash.add(stated)
        return hash.value
    }
}

struct QwenLedgerReader: TokenLineReader {
    /// Where the chats are, which tell the project of a session.
    private let projectsDirectory: String
    /// By session; looked up when the first is needed, and not kept.
    private var projects: [String: String]?

    private enum CodingKeys: CodingKey {
        case projectsDirectory
    }

    private static let names: JSONCursor.CountNames = [
        ("inputTokens", \.input), ("outputTokens", \.output), ("cachedTokens", \.cacheRead),
        ("thoughtsTokens", \.reasoning),
    ]
    private static let sessionLimit = 65_536
    private static let projectLimit = 4_096

    init(projectsDirectory: String) { self.projectsDirectory = projectsDirectory }

    private mutating func project(of session: JSONCursor.Text) -> String? {
        let projects = projects ?? Self.projects(in: projectsDirectory)
        self.projects = projects
        return session.displayText.flatMap { projects[$0] }
    }

    private static func projects(in directory: String) -> [String: String] {
        func names(in directory: String, limit: Int) -> [String] {
            // Without names the usage has no project; what keeps them from being read is a finding of the logs.
            let entries = try? LocalDirectory(directory).entries(limit: limit).entries
            return (entries ?? []).map(\.name)
        }
        var projects: [String: String] = [:]
        for project in names(in: directory, limit: projectLimit).sorted() {
            let chats = names(in: "\(directory)/\(project)/chats", limit: sessionLimit - projects.count)
            for chat in chats where chat.hasSuffix(".jsonl") {
                let session = String(chat.dropLast(".jsonl".count))
                projects[session] = projects[session] ?? project
            }
        }
        return projects
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var usage = QwenUsage()
        var id: JSONCursor.Text?
        var time: Int64?
        var session: JSONCursor.Text?
        var model: JSONCursor.Text?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "schemaVersion": guard cursor.count() == 1 else { return }
            case "id": id = cursor.text()
            case "timestamp": time = cursor.milliseconds()
            case "sessionId": session = cursor.text()
            case "model": model = cursor.text()
            case "totalTokens": usage.total = cursor.count() ?? 0
            default: cursor.readCount(key, Self.names, into: &usage.stated)
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        let counts = usage.counts
        guard let id, let session, counts != TokenCounts() || cursor.hasImpossibleCount else { return }
        guard let time, !cursor.hasImpossibleCount else { return sink.leaveOut() }
        sink.add(
            TokenRecord(
                time: time, counts: counts, id: usage.id(session: session, orIn: ""),
                variant: UInt32(truncatingIfNeeded: id.hash)),
            session: sink.session(session, project: project(of: session)),
            model: sink.model(model.flatMap { $0 == "unknown" ? nil : $0 }))
    }
}

struct QwenChatReader: TokenLineReader {
    /// For lines that name none.
    private let session: String
    /// The name that Qwen Code gave the directory.
    private let project: String
    /// A subagent's, whose lines name none.
    private let model: String?
    private let isSubagent: Bool
    /// The session that this one is a branch of.
    private var origin: String?

    init(session: String, project: String, model: String? = nil, isSubagent: Bool = false) {
        self.session = session
        self.project = project
        self.model = model
        self.isSubagent = isSubagent
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var usage = QwenUsage()
        var time: Int64?
        var session: JSONCursor.Text?
        var model: JSONCursor.Text?
        var forked: JSONCursor.Text?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "type": guard let type = cursor.text(), type == "assistant" else { return }
            case "forkedFrom": forked = cursor.member("sessionId") { $0.text() }
            case "timestamp": time = cursor.milliseconds()
            case "sessionId": session = cursor.text()
            case "model": model = cursor.text()
            case "usageMetadata": Self.read(&usage, &cursor)
            default: cursor.skip()
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        let counts = usage.counts
        guard counts != TokenCounts() || cursor.hasImpossibleCount else { return }
        guard let time, !cursor.hasImpossibleCount else { return sink.leaveOut() }
        if !isSubagent, sink.thread == nil || forked != nil && origin == nil {
            origin = origin ?? forked?.displayText
            sink.declare(thread: self.session, origin: origin)
        }
        // A branch repeats the lines of the other session, with their numbers.
        sink.add(
            TokenRecord(
                time: time, counts: counts, id: usage.id(session: forked ?? session, orIn: self.session),
                role: .sidechain, standing: forked == nil ? .own : .inOrigin),
            session: session.map { sink.session($0, project: project) } ?? sink.session(self.session, project: project),
            model: model.map { sink.model($0) } ?? sink.model(self.model))
    }

    private static func read(_ usage: inout QwenUsage, _ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "totalTokenCount" {
                usage.total = cursor.count() ?? 0
            } else {
                cursor.readCount(key, names, into: &usage.stated)
            }
        }
    }

    private static let names: JSONCursor.CountNames = [
        ("promptTokenCount", \.input), ("candidatesTokenCount", \.output),
        ("cachedContentTokenCount", \.cacheRead), ("thoughtsTokenCount", \.reasoning),
    ]
}
