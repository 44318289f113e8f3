import Foundation

/// The tokens in the transcripts of Claude Code and of the agent mode of Claude Desktop.
///
/// A line states a reply with its usage; docs/log-shapes.md has the shapes.
struct ClaudeTokens: TokenLog {
    let source = "claude"
    let version = 2

    func roots(in environment: SourceEnvironment) -> [String] {
        let desktop = environment.applicationData.map { $0 + "/Claude/local-agent-mode-sessions" }
        return ClaudePaths.homes(in: environment).flatMap(\.projects) + desktop
    }

    func isWanted(_ name: String) -> Bool { name.hasSuffix(".jsonl") }

    func reader(of file: TokenFile) -> TokenReader? {
        var directories = file.components.dropLast()
        if !file.root.hasSuffix("/projects") {
            guard let projects = directories.firstIndex(of: "projects") else { return nil }
            directories = directories[(projects + 1)...]
        }
        return .lines(
            ClaudeTokenReader(
                session: String(file.name.dropLast(".jsonl".count)),
                project: directories.first.map(String.init)))
    }
}

struct ClaudeTokenReader: TokenLineReader {
    /// For lines that name none.
    let session: String
    /// The name that Claude Code gave the directory.
    let project: String?
    /// Replies without an id so far.
    private var namelessCount: UInt64 = 0

    init(session: String, project: String?) {
        self.session = session
        self.project = project
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var row = Row()
        var cursor = JSONCursor(line)
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key.bytes.count {
            case 4 where key == "type":
                guard let type = cursor.text(), type == "assistant" else { return }
            case 7 where key == "message": row.readMessage(&cursor)
            case 7 where key == "costUSD": row.cost = cursor.number()
            case 9 where key == "requestId": row.request = cursor.text()?.hash
            case 9 where key == "sessionId": row.session = cursor.text()
            case 9 where key == "timestamp": row.time = cursor.milliseconds()
            case 11 where key == "isSidechain": row.isSidechain = cursor.flag() ?? false
            default: cursor.skip()
            }
        }
        if cursor.isFailed { sink.rejectLine() }
        guard row.usage.isStated else { return }
        guard !cursor.isFailed, !cursor.hasImpossibleCount, let time = row.time else {
            return sink.leaveOut()
        }
        if row.id == nil { namelessCount += 1 }
        let id =
            row.id ?? ContentHash.of("claude", self.session, "\(namelessCount)", "\(time)")
        let session =
            row.session.map { sink.session($0, project: project) }
            ?? sink.session(self.session, project: project)
        func add(_ usage: Usage, id: UInt64, model: JSONCursor.Text?, cost: Double? = nil) {
            sink.add(
                TokenRecord(
                    time: time, counts: usage.counts, id: id,
                    variant: row.request.map { UInt32(truncatingIfNeeded: $0 >> 16) } ?? 0,
                    isSidechain: row.isSidechain, tier: usage.tier, ownCost: cost),
                session: session,
                model: sink.model(model.flatMap { $0 == "<synthetic>" ? nil : $0 }))
        }
        add(row.usage, id: id, model: row.model, cost: row.cost)
        for (index, further) in row.furtherAnswers.enumerated() {
            var furtherID = ContentHash(seed: id)
            furtherID.add(UInt64(index))
            add(further.usage, id: furtherID.value, model: further.model ?? row.model)
        }
    }

    private struct Row {
        var time: Int64?
        var session: JSONCursor.Text?
        var request: UInt64?
        var isSidechain = false
        var cost: Double?
        var id: UInt64?
        var model: JSONCursor.Text?
        var usage = Usage()

        mutating func readMessage(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                if key == "usage" {
                    usage.read(&cursor)
                } else if key == "id" {
                    id = cursor.text()?.hash
                } else if key == "model" {
                    model = cursor.text()
                } else {
                    cursor.skip()
                }
            }
        }

        /// Requests besides the one that the counts are of: of an adviser, of a compaction, and of a model that refused, whose
        /// answer another one then gave.
        var furtherAnswers: [(usage: Usage, model: JSONCursor.Text?)] {
            guard let iterations = usage.iterations else { return [] }
            var cursor = JSONCursor(iterations)
            guard cursor.enterArray() else { return [] }
            var answers: [(type: JSONCursor.Text, usage: Usage, model: JSONCursor.Text?)] = []
            while answers.count < Self.iterationLimit, cursor.nextElement() {
                guard cursor.enterObject() else { continue }
                var answer = Usage()
                var type: JSONCursor.Text?
                var model: JSONCursor.Text?
                while let key = cursor.nextKey() {
                    if key == "type" {
                        type = cursor.text()
                    } else if key == "model" {
                        model = cursor.text()
                    } else {
                        answer.read(key, &cursor)
                    }
                }
                if let type { answers.append((type, answer, model)) }
            }
            let isFallback = answers.contains { $0.type == "fallback_message" }
            return answers.filter { answer in
                if answer.type == "message" {
                    return isFallback && answer.usage.counts.output > 0
                        && !(answer.model.map { $0.hash == model?.hash } ?? true)
                }
                return answer.type == "advisor_message" || answer.type == "compaction"
            }.map { ($0.usage, $0.model) }
        }

        private static let iterationLimit = 64
    }

    /// `usage`, of a message or one of its iterations.
    private struct Usage {
        var counts = TokenCounts()
        var tier = ServiceTier.standard
        var isStated = false
        var iterations: UnsafeRawBufferPointer?

        mutating func read(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() { read(key, &cursor) }
        }

        mutating func read(_ key: JSONCursor.Text, _ cursor: inout JSONCursor) {
            switch key.bytes.count {
            case 12 where key == "input_tokens":
                counts.input = cursor.count() ?? 0
                isStated = true
            case 13 where key == "output_tokens":
                counts.output = cursor.count() ?? 0
                isStated = true
            case 27 where key == "cache_creation_input_tokens":
                // The parts that `cache_creation` states are in it.
                counts.cacheWrite5m = max(
                    counts.cacheWrite5m, (cursor.count() ?? 0) &- counts.cacheWrite1h)
            case 23 where key == "cache_read_input_tokens":
                counts.cacheRead = cursor.count() ?? 0
            case 14 where key == "cache_creation": readCacheWrites(&cursor)
            case 21 where key == "output_tokens_details":
                counts.reasoning = cursor.member("thinking_tokens") { $0.count() } ?? 0
            case 15 where key == "server_tool_use":
                counts.webSearches = cursor.member("web_search_requests") { $0.count() } ?? 0
            case 10 where key == "iterations": iterations = cursor.value()
            case 5 where key == "speed":
                if let speed = cursor.text(), speed == "fast" { tier = .fast }
            case 12 where key == "service_tier":
                if let name = cursor.text(), name == "priority", tier == .standard {
                    tier = .priority
                }
            default: cursor.skip()
            }
        }

        private mutating func readCacheWrites(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            var short = 0
            while let key = cursor.nextKey() {
                if key == "ephemeral_5m_input_tokens" {
                    short = cursor.count() ?? 0
                } else if key == "ephemeral_1h_input_tokens" {
                    counts.cacheWrite1h = cursor.count() ?? 0
                } else {
                    cursor.skip()
                }
            }
            counts.cacheWrite5m = max(short, counts.cacheWrite5m &- counts.cacheWrite1h)
        }
    }
}

extension ClaudeSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [ClaudeTokens()] }
}
