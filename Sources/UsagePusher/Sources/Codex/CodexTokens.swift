import Foundation

/// The tokens in the rollouts of Codex.
///
/// `token_count` lines state the session's total and the last request's tokens. What counts is by how much the total has
/// grown: a line is repeated when only the limits have changed. A fork, and a subagent's session, begin with copies of the
/// other session's lines; they have the same ids as the originals.
struct CodexTokens: TokenLog {
    let source = "codex"

    func roots(in environment: SourceEnvironment) -> [String] {
        CodexPaths.homes(in: environment).flatMap { [$0.sessions, $0.archive] }
    }

    func isWanted(_ name: String) -> Bool { CodexRollouts.isOne(name) }

    func reader(of file: TokenFile) -> TokenReader? {
        let name = file.name.prefix { $0 != "." }
        return .lines(CodexTokenReader(name: String(name)))
    }
}

struct CodexTokenReader: TokenLineReader {
    /// The session's id; until it is known, the file's name.
    private var session: String
    /// The session whose lines come first, its own or the one that it is a copy of in the end.
    private var origin: String
    private var directory: String?
    private var model: String?
    private var metaCount = 0
    /// When copies were written, in milliseconds; nil when there are none.
    private var copiedAt: Int64?
    private var startedAt: Int64?
    private var total: Totals?
    /// Of all totals so far: what tells a line apart from any other, and copies of one line not.
    private var chain: UInt64 = 0

    /// Milliseconds from the start of a session in which copies are written.
    private static let copyInterval: Int64 = 2_000

    private struct Totals: Codable, Hashable {
        var input = 0
        var cached = 0
        var output = 0
        var reasoning = 0
        var all = 0

        static func - (left: Totals, right: Totals) -> Totals {
            Totals(
                input: max(0, left.input - right.input), cached: max(0, left.cached - right.cached),
                output: max(0, left.output - right.output),
                reasoning: max(0, left.reasoning - right.reasoning), all: max(0, left.all - right.all))
        }

        var counts: TokenCounts {
            let cached = min(cached, input)
            return TokenCounts(
                input: input - cached, output: output, reasoning: min(reasoning, output),
                cacheRead: cached)
        }
    }

    init(name: String) {
        session = name
        origin = name
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var time: Int64?
        guard cursor.enterObject() else { return }
        enum Kind { case event, context, meta }
        var kind: Kind?
        var payload: JSONCursor?
        while let key = cursor.nextKey() {
            if key == "timestamp" {
                time = cursor.milliseconds()
            } else if key == "type" {
                guard let type = cursor.text() else { return }
                if type == "event_msg" {
                    kind = .event
                } else if type == "turn_context" {
                    kind = .context
                } else if type == "session_meta" {
                    kind = .meta
                } else {
                    return
                }
            } else if key == "payload" {
                payload = cursor
                // The last member, and often the only long one.
                if kind == nil { cursor.skip() } else { break }
            } else {
                cursor.skip()
            }
        }
        guard let kind, var payload, payload.enterObject() else { return }
        switch kind {
        case .event: addEvent(&payload, at: time, to: &sink)
        case .context: readContext(&payload)
        case .meta: readMeta(&payload, at: time)
        }
    }

    private mutating func readContext(_ payload: inout JSONCursor) {
        while let key = payload.nextKey() {
            if key == "model" {
                model = payload.text()?.displayText ?? model
            } else {
                payload.skip()
            }
        }
    }

    private mutating func readMeta(_ payload: inout JSONCursor, at time: Int64?) {
        metaCount += 1
        var isCopying = metaCount > 1
        while let key = payload.nextKey() {
            if key == "id" {
                guard let id = payload.text()?.displayText else { continue }
                if metaCount == 1 { session = id }
                // The last one that is copied is that of the session where the lines come from.
                if total == nil { origin = id }
            } else if key == "cwd", metaCount == 1 {
                directory = payload.text()?.displayText
            } else if key == "forked_from_id" || key == "parent_thread_id" {
                if payload.text() != nil { isCopying = true }
            } else if key == "subagent_history_start_ordinal" {
                if payload.number() != nil { isCopying = true }
            } else if key == "source" {
                guard payload.enterObject() else { continue }
                while let key = payload.nextKey() {
                    if key == "subagent" { isCopying = true }
                    payload.skip()
                }
            } else {
                payload.skip()
            }
        }
        if metaCount == 1 { startedAt = time }
        if isCopying { copiedAt = startedAt }
    }

    private mutating func addEvent(
        _ payload: inout JSONCursor, at time: Int64?, to sink: inout TokenSink
    ) {
        var last: Totals?
        var new: Totals?
        while let key = payload.nextKey() {
            if key == "type" {
                guard let type = payload.text(), type == "token_count" else { return }
            } else if key == "info" {
                guard payload.enterObject() else { continue }
                while let key = payload.nextKey() {
                    if key == "total_token_usage" {
                        new = Self.totals(&payload)
                    } else if key == "last_token_usage" {
                        last = Self.totals(&payload)
                    } else {
                        payload.skip()
                    }
                }
            } else {
                payload.skip()
            }
        }
        guard !payload.isFailed, let new = new ?? last.map({ accumulated($0) }), new != total
        else { return }
        var hash = ContentHash(seed: chain)
        for value in [new, last ?? Totals()] {
            for number in [value.input, value.cached, value.output, value.reasoning, value.all] {
                hash.add(UInt64(bitPattern: Int64(number)))
            }
        }
        chain = hash.value
        let used =
            if let total, new.all >= total.all { new - total } else { last ?? new }
        total = new
        let counts = used.counts
        guard let time, counts.total > 0, !isCopy(time) else { return }
        var id = ContentHash(seed: chain)
        id.add(origin)
        sink.add(
            TokenRecord(time: time, counts: counts, id: id.value),
            session: sink.session(session, project: directory), model: sink.model(model))
    }

    /// Early versions state no total.
    private func accumulated(_ last: Totals) -> Totals {
        let total = total ?? Totals()
        return Totals(
            input: total.input &+ last.input, cached: total.cached &+ last.cached,
            output: total.output &+ last.output, reasoning: total.reasoning &+ last.reasoning,
            all: total.all &+ last.all)
    }

    private func isCopy(_ time: Int64) -> Bool {
        copiedAt.map { abs(time - $0) <= Self.copyInterval } ?? false
    }

    private static func totals(_ cursor: inout JSONCursor) -> Totals? {
        guard cursor.enterObject() else { return nil }
        var totals = Totals()
        while let key = cursor.nextKey() {
            if key == "input_tokens" {
                totals.input = cursor.count() ?? 0
            } else if key == "cached_input_tokens" {
                totals.cached = cursor.count() ?? 0
            } else if key == "output_tokens" {
                totals.output = cursor.count() ?? 0
            } else if key == "reasoning_output_tokens" {
                totals.reasoning = cursor.count() ?? 0
            } else if key == "total_tokens" {
                totals.all = cursor.count() ?? 0
            } else {
                cursor.skip()
            }
        }
        return totals
    }
}

extension CodexSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [CodexTokens()] }
}
