import Foundation

/// The tokens in the rollouts of Codex.
///
/// Since 0.153 each response has a `token_usage_record` with an id. Before, `token_count` lines state the session's total, and
/// what counts is by how much that has grown: a line is repeated when only the limits have changed. A fork, and a
/// subagent's session, begin with copies of such lines, which are left out by their marks, or have the ids of the originals.
/// docs/log-shapes.md has the shapes.
struct CodexTokens: TokenLog {
    let source = "codex"
    let version = 2

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
    /// The thread that the file is of; until it is known, the file's name.
    private var thread: String
    /// The root of a tree of threads.
    private var session: String?
    /// The thread whose lines come first: this one, or the one that the copies are of in the end.
    private var origin: String
    private var directory: String?
    private var model: String?
    private var marks = CodexCopyMarks()
    private var hasRecords = false
    private var total: Usage?
    /// Of all totals so far: copies of a line have the same, and no other line.
    private var chain: UInt64 = 0

    private struct Usage: Codable, Hashable {
        var input = 0
        var cached = 0
        var cacheWrite = 0
        var output = 0
        var reasoning = 0
        var isEmpty: Bool { input == 0 && output == 0 }

        var counts: TokenCounts {
            let cached = min(cached, input)
            let written = min(cacheWrite, input - cached)
            return TokenCounts(
                input: input - cached - written, output: output, reasoning: min(reasoning, output),
                cacheRead: cached, cacheWrite5m: written)
        }

        func growth(since total: Usage) -> Usage {
            Usage(
                input: input &- total.input, cached: max(0, cached &- total.cached),
                cacheWrite: max(0, cacheWrite &- total.cacheWrite), output: output &- total.output,
                reasoning: max(0, reasoning &- total.reasoning))
        }

        static func + (left: Usage, right: Usage) -> Usage {
            Usage(
                input: left.input &+ right.input, cached: left.cached &+ right.cached,
                cacheWrite: left.cacheWrite &+ right.cacheWrite,
                output: left.output &+ right.output, reasoning: left.reasoning &+ right.reasoning)
        }
    }

    init(name: String) {
        thread = name
        origin = name
    }

    mutating func add(_ line: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(line)
        var time: Int64?
        var ordinal: Int?
        var type: JSONCursor.Text?
        var payload: JSONCursor?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "timestamp" {
                time = cursor.milliseconds()
            } else if key == "ordinal" {
                ordinal = cursor.count()
            } else if key == "type" {
                type = cursor.text()
                if let type, type == "response_item" { return }
            } else if key == "payload" {
                payload = cursor
                // It is the last member, and may be long.
                if type == nil { cursor.skip() } else { break }
            } else {
                cursor.skip()
            }
        }
        if cursor.isFailed { sink.rejectLine() }
        guard let type, var payload, payload.enterObject() else { return }
        defer { if payload.isFailed { sink.rejectLine() } }
        if type == "event_msg" {
            addEvent(&payload, at: time, ordinal: ordinal, to: &sink)
        } else if type == "token_usage_record" {
            addRecord(&payload, at: time, to: &sink)
        } else if type == "turn_context" {
            readModel(&payload)
        } else if type == "session_meta" {
            readMeta(&payload, at: time)
        } else if type == "compacted" {
            while let key = payload.nextKey() {
                if key == "latest_token_usage_record" {
                    guard payload.enterObject() else { continue }
                    addRecord(&payload, at: time, to: &sink)
                } else {
                    payload.skip()
                }
            }
        }
    }

    private mutating func readModel(_ object: inout JSONCursor) {
        while let key = object.nextKey() {
            if key == "model" {
                model = object.text()?.displayText ?? model
            } else {
                object.skip()
            }
        }
    }

    private mutating func readMeta(_ payload: inout JSONCursor, at time: Int64?) {
        let isOwn = marks.begin(at: time)
        while let key = payload.nextKey() {
            if key == "id" {
                guard let id = payload.text()?.displayText else { continue }
                if isOwn { thread = id }
                if total == nil { origin = id }
            } else if key == "session_id", isOwn {
                session = payload.text()?.displayText
            } else if key == "cwd", isOwn {
                directory = payload.text()?.displayText
            } else {
                marks.read(key, &payload)
            }
        }
    }

    private mutating func addRecord(
        _ record: inout JSONCursor, at time: Int64?, to sink: inout TokenSink
    ) {
        var thread: JSONCursor.Text?
        var response: JSONCursor.Text?
        var usage: Usage?
        while let key = record.nextKey() {
            if key == "thread_id" {
                thread = record.text()
            } else if key == "response_id" {
                response = record.text()
            } else if key == "usage" {
                usage = Self.usage(&record)
            } else {
                record.skip()
            }
        }
        guard let thread, let response, let usage, thread.displayText == self.thread else {
            return
        }
        guard !record.isFailed, !record.hasImpossibleCount, let time else {
            return sink.leaveOut()
        }
        hasRecords = true
        var id = ContentHash()
        id.add(self.thread)
        id.add(UnsafeRawBufferPointer(response.bytes))
        add(usage, id: id.value, at: time, to: &sink)
    }

    private mutating func addEvent(
        _ payload: inout JSONCursor, at time: Int64?, ordinal: Int?, to sink: inout TokenSink
    ) {
        var last: Usage?
        var new: Usage?
        while let key = payload.nextKey() {
            if key == "type" {
                guard let type = payload.text(),
                    type == "token_count" || type == "thread_settings_applied"
                else { return }
            } else if key == "thread_settings" {
                guard payload.enterObject() else { continue }
                readModel(&payload)
            } else if key == "info" {
                guard payload.enterObject() else { continue }
                while let key = payload.nextKey() {
                    if key == "total_token_usage" {
                        new = Self.usage(&payload)
                    } else if key == "last_token_usage" {
                        last = Self.usage(&payload)
                    } else {
                        payload.skip()
                    }
                }
            } else {
                payload.skip()
            }
        }
        // Early versions state one of the two.
        guard let new = new ?? last.map({ (total ?? Usage()) + $0 }), new != total else { return }
        guard !payload.isFailed, !payload.hasImpossibleCount else { return sink.leaveOut() }
        extendChain(by: new, last)
        let hasGrown = total.map { new.input >= $0.input && new.output >= $0.output } ?? false
        let used = hasGrown ? new.growth(since: total ?? Usage()) : last ?? new
        total = new
        guard !hasRecords, !new.isEmpty else { return }
        guard let time else { return sink.leaveOut() }
        guard !marks.isCopy(at: time, ordinal: ordinal) else { return }
        var id = ContentHash(seed: chain)
        id.add(origin)
        add(used, id: id.value, at: time, to: &sink)
    }

    private mutating func extendChain(by total: Usage, _ last: Usage?) {
        var hash = ContentHash(seed: chain)
        for usage in [total, last ?? Usage()] {
            for number in [usage.input, usage.cached, usage.output, usage.reasoning] {
                hash.add(UInt64(bitPattern: Int64(number)))
            }
        }
        chain = hash.value
    }

    private func add(_ usage: Usage, id: UInt64, at time: Int64, to sink: inout TokenSink) {
        guard !usage.isEmpty else { return }
        sink.add(
            TokenRecord(time: time, counts: usage.counts, id: id),
            session: sink.session(session ?? thread, project: directory), model: sink.model(model))
    }

    private static func usage(_ cursor: inout JSONCursor) -> Usage? {
        guard cursor.enterObject() else { return nil }
        var usage = Usage()
        while let key = cursor.nextKey() {
            if key == "input_tokens" {
                usage.input = cursor.count() ?? 0
            } else if key == "cached_input_tokens" {
                usage.cached = cursor.count() ?? 0
            } else if key == "cache_write_input_tokens" {
                usage.cacheWrite = cursor.count() ?? 0
            } else if key == "output_tokens" {
                usage.output = cursor.count() ?? 0
            } else if key == "reasoning_output_tokens" {
                usage.reasoning = cursor.count() ?? 0
            } else {
                cursor.skip()
            }
        }
        return usage
    }
}

extension CodexSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [CodexTokens()] }
}
