import Foundation

/// The tokens in the transcripts of Claude Code and of the agent mode of Claude Desktop.
///
/// A line states a reply with its usage; docs/log-shapes.md has the shapes.
struct ClaudeTokens: TokenLog {
    let source = "claude"

    func roots(in environment: SourceEnvironment) -> [String] {
        let desktop = ["/.config", "/Library/Application Support"].map {
            environment.home + $0 + "/Claude/local-agent-mode-sessions"
        }
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
        guard !cursor.isFailed, row.hasUsage, let time = row.time else { return }
        if row.id == nil { namelessCount += 1 }
        let session = row.session.map { sink.session($0, project: project) }
        sink.add(
            TokenRecord(
                time: time, counts: row.counts,
                id: row.id ?? ContentHash.of("claude", self.session, "\(namelessCount)", "\(time)"),
                variant: row.request.map { UInt32(truncatingIfNeeded: $0 >> 16) } ?? 0,
                isSidechain: row.isSidechain, tier: row.tier, ownCost: row.cost),
            session: session ?? sink.session(self.session, project: project),
            model: sink.model(row.model.flatMap { $0 == "<synthetic>" ? nil : $0 }))
    }

    private struct Row {
        var time: Int64?
        var session: JSONCursor.Text?
        var request: UInt64?
        var isSidechain = false
        var cost: Double?
        var id: UInt64?
        var model: JSONCursor.Text?
        var counts = TokenCounts()
        var tier = ServiceTier.standard
        var hasUsage = false

        mutating func readMessage(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                if key == "usage" {
                    readUsage(&cursor)
                } else if key == "id" {
                    id = cursor.text()?.hash
                } else if key == "model" {
                    model = cursor.text()
                } else {
                    cursor.skip()
                }
            }
        }

        private mutating func readUsage(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            var isSplit = false
            while let key = cursor.nextKey() {
                switch key.bytes.count {
                case 12 where key == "input_tokens":
                    counts.input = cursor.count() ?? 0
                    hasUsage = true
                case 13 where key == "output_tokens":
                    counts.output = cursor.count() ?? 0
                    hasUsage = true
                case 27 where key == "cache_creation_input_tokens":
                    let count = cursor.count() ?? 0
                    if !isSplit { counts.cacheWrite5m = count }
                case 23 where key == "cache_read_input_tokens":
                    counts.cacheRead = cursor.count() ?? 0
                case 14 where key == "cache_creation":
                    isSplit = readCacheWrites(&cursor) || isSplit
                case 15 where key == "server_tool_use": readTools(&cursor)
                case 5 where key == "speed":
                    if let speed = cursor.text(), speed == "fast" { tier = .fast }
                case 12 where key == "service_tier":
                    if let name = cursor.text(), name == "priority", tier == .standard {
                        tier = .priority
                    }
                default: cursor.skip()
                }
            }
        }

        /// Returns whether there are counts by lifetime, which replace the sum.
        private mutating func readCacheWrites(_ cursor: inout JSONCursor) -> Bool {
            guard cursor.enterObject() else { return false }
            var short: Int?
            var long: Int?
            while let key = cursor.nextKey() {
                if key == "ephemeral_5m_input_tokens" {
                    short = cursor.count()
                } else if key == "ephemeral_1h_input_tokens" {
                    long = cursor.count()
                } else {
                    cursor.skip()
                }
            }
            guard short != nil || long != nil else { return false }
            counts.cacheWrite5m = short ?? 0
            counts.cacheWrite1h = long ?? 0
            return true
        }

        private mutating func readTools(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                if key == "web_search_requests" {
                    counts.webSearches = cursor.count() ?? 0
                } else {
                    cursor.skip()
                }
            }
        }
    }
}

extension ClaudeSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [ClaudeTokens()] }
}
