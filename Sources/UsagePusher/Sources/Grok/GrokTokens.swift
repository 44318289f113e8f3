import Essentials
import LocalFiles

/// The tokens in the sessions of Grok Build: the sum of each prompt.
struct GrokTokens: TokenLog {
    let source = "grok"
    let version = 3

    func roots(in environment: SourceEnvironment) -> [String] {
        [GrokSource.directory(in: environment) + "/sessions"]
    }

    func isWanted(_ name: String) -> Bool { name == "updates.jsonl" }

    /// "<directory>/<session>/updates.jsonl". A subagent's tokens are in the sums of the session that it works for.
    func reader(of file: TokenFile) -> TokenReader? {
        let parts = file.components.map(String.init)
        guard parts.count == 3 else { return nil }
        let group = file.root + "/" + parts[0]
        var issue: FileError?
        var summary: JSONFields?
        do throws(FileError) {
            summary = try SideFile("\(group)/\(parts[1])/summary.json").read().flatMap {
                JSONFields($0.data)
            }
        } catch {
            issue = error
        }
        let parent = summary?.text("parent_session_id")
        let isSubagent = summary?.text("session_kind")?.hasPrefix("subagent") == true
        if isSubagent, parent == nil { return nil }
        let project =
            summary?.fields("info")?.text("cwd") ?? SideFile(group + "/.cwd").text
            ?? PercentEncoding.decode(parts[0])
        return .lines(
            GrokTokenReader(
                session: parts[1], project: project, model: summary?.text("current_model_id"), origin: parent,
                isSubagent: isSubagent, issue: issue.map { "cannot read \($0.path): \($0.sourceMessage)" }))
    }
}

struct GrokTokenReader: TokenLineReader {
    private let session: String
    private let project: String?
    /// For sums that name none.
    private let model: String?
    /// For a fork the session whose lines it has too, for a subagent the one whose sums have its tokens too.
    private let origin: String?
    private let isSubagent: Bool
    /// Why more about the session is not known; reported once.
    private var issue: String?

    private static let modelLimit = 32
    private static let ticksPerDollar = 1e10

    init(session: String, project: String?, model: String?, origin: String?, isSubagent: Bool, issue: String? = nil) {
        self.session = session
        self.project = project
        self.model = model
        self.origin = origin
        self.isSubagent = isSubagent
        self.issue = issue
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        if let issue {
            sink.report(issue)
            self.issue = nil
        }
        var cursor = JSONCursor(line)
        var writtenAt: Int64?
        var params = Params()
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "timestamp": writtenAt = cursor.milliseconds()
            case "method": guard let method = cursor.text(), method == "_x.ai/session/update" else { return }
            case "params": params.read(&cursor)
            default: cursor.skip()
            }
        }
        guard !cursor.isFailed else { return sink.rejectLine() }
        guard let turn = params.turn, turn.isComplete else { return }
        for usage in turn.usages where usage.counts != TokenCounts() || usage.isImpossible {
            guard let time = params.time ?? writtenAt else { return sink.leaveOut() }
            if usage.isImpossible {
                sink.leaveOut()
                continue
            }
            if sink.thread == nil { sink.declare(thread: session, origin: origin) }
            // Over all sessions: a fork copies the lines.
            var hash = ContentHash()
            hash.add("grok")
            if let prompt = turn.prompt {
                hash.add(prompt)
            } else {
                if params.time == nil { hash.add(session) }
                hash.add(UInt64(bitPattern: time))
            }
            let name = usage.model?.displayText ?? model
            sink.add(
                TokenRecord(
                    time: time, counts: usage.counts, id: hash.value, identity: turn.prompt == nil ? .foreign : .own,
                    variant: name.map { UInt32(truncatingIfNeeded: ContentHash.of($0)) } ?? 0,
                    standing: isSubagent ? .inOrigin : .own, ownCost: usage.ticks.map { $0 / Self.ticksPerDollar }),
                session: sink.session(session, project: project), model: sink.model(name))
        }
    }

    private struct Params {
        var turn: Turn?
        /// When the turn was completed; a copy of the line has it too, and is stamped again.
        var time: Int64?

        mutating func read(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                switch key {
                case "update": turn = Turn(&cursor)
                case "_meta": time = cursor.member("agentTimestampMs") { $0.milliseconds() }
                default: cursor.skip()
                }
            }
        }
    }

    private struct Turn {
        var isComplete = false
        var prompt: JSONCursor.Text?
        private var sum: Usage?

        init?(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return nil }
            while let key = cursor.nextKey() {
                switch key {
                case "sessionUpdate": isComplete = cursor.text().map { $0 == "turn_completed" } ?? false
                case "prompt_id": prompt = cursor.text()
                case "usage": sum = Usage(&cursor)
                default: cursor.skip()
                }
            }
        }

        /// By model, where the sum is divided.
        var usages: [Usage] {
            guard let sum else { return [] }
            var models: [Usage] = []
            if var cursor = sum.models, cursor.enterObject() {
                while models.count < GrokTokenReader.modelLimit, let name = cursor.nextKey() {
                    var usage = Usage(&cursor, model: name)
                    if !sum.isWhole { usage?.ticks = nil }
                    if let usage { models.append(usage) }
                }
            }
            if models.count == 1 { models[0].ticks = models[0].ticks ?? sum.ticks }
            return models.isEmpty ? [sum] : models
        }
    }

    private struct Usage {
        var model: JSONCursor.Text?
        var counts = TokenCounts()
        /// What it cost; nil when the tool knows none, or not all of it.
        var ticks: Double?
        /// False when the tool says that something is missing.
        var isWhole = true
        /// The object with the parts by model.
        var models: JSONCursor?
        var isImpossible = false

        private static let names: JSONCursor.CountNames = [
            ("inputTokens", \.input), ("outputTokens", \.output), ("cachedReadTokens", \.cacheRead),
            ("cacheCreationTokens", \.cacheWrite5m), ("reasoningTokens", \.reasoning),
        ]

        init?(_ cursor: inout JSONCursor, model: JSONCursor.Text? = nil) {
            guard cursor.enterObject() else { return nil }
            self.model = model
            cursor.hasImpossibleCount = false
            while let key = cursor.nextKey() {
                switch key {
                case "costUsdTicks": ticks = cursor.number().flatMap { $0 > 0 ? $0 : nil }
                case "usageIsIncomplete", "costIsPartial": if cursor.flag() == true { isWhole = false }
                default:
                    if key == "modelUsage" { models = cursor }
                    cursor.readCount(key, Self.names, into: &counts)
                }
            }
            counts.removeCachesFromInput()
            isImpossible = cursor.hasImpossibleCount
            if !isWhole { ticks = nil }
        }
    }
}
