import Essentials

/// The tokens in the transcripts of Claude Code and of Claude Desktop.
///
/// A line states a reply with its usage; docs/log-shapes.md has the shapes.
struct ClaudeTokens: TokenLog {
    let source = "claude"
    let version = 6

    func roots(in environment: SourceEnvironment) -> [String] {
        let desktop = environment.applicationData.flatMap { data in
            ["local-agent-mode-sessions", "claude-code-sessions"].map { "\(data)/Claude/\($0)" }
        }
        return ClaudePaths.homes(in: environment).flatMap(\.projects) + desktop
    }

    /// Not into what an agent of Claude Desktop made, which can have copies of other homes.
    func isEntered(_ name: String) -> Bool { name != "outputs" }

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
    /// The one of the last answer.
    private var model: String?
    private var modelHash: UInt64 = 0
    private var statesSearches = false
    /// The last answer without an id, and how many there were before it at its time.
    private var nameless = Nameless()
    /// The last line of an answer, unless it says that it is its end.
    private var unfinished: Unfinished?

    private struct Nameless: Codable {
        var time: Int64 = 0
        var count = 0
    }

    /// A line of an answer that others may follow. A gateway can put an estimate of the prompt into the first ones.
    private struct Unfinished: Codable {
        /// A hash of the answer's ids and its place.
        var answer: UInt64
        /// A hash of the line's own id.
        var line: UInt64?
        var time: Int64
        var input: Int
        var cacheRead: Int
        var cacheWrite: Int
        var output: Int
        /// Whether a line of the user has followed: between two requests there always is one.
        var isInterrupted = false

        init(_ answer: UInt64, _ row: Row, at time: Int64) {
            let counts = row.usage.counts
            self.answer = answer
            line = row.line?.hash
            self.time = time
            input = counts.input
            cacheRead = counts.cacheRead
            cacheWrite = counts.cacheWrite
            output = counts.output
        }

        var counts: TokenCounts {
            TokenCounts(input: input, output: output, cacheRead: cacheRead, cacheWrite5m: cacheWrite)
        }

        func hasPrompt(of counts: TokenCounts) -> Bool {
            input == counts.input && cacheRead == counts.cacheRead && cacheWrite == counts.cacheWrite
        }

        func isContinued(by row: Row, _ answer: UInt64, at time: Int64) -> Bool {
            guard answer == self.answer else { return false }
            return !isInterrupted || line != nil && line == row.parent?.hash
                || row.request != nil && abs(time - self.time) <= TokenEntry.answerMilliseconds
        }

        /// Keeps the counts of a line before this one.
        mutating func keep(_ former: Unfinished) {
            let line = line
            self = former
            self.line = line
            isInterrupted = false
        }
    }

    private static let modelByteLimit = 120
    private static let searchCount = ByteNeedle("\"searchCount\"")

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
                guard let type = cursor.text() else { return }
                if type == "user" {
                    unfinished?.isInterrupted = true
                    guard Self.searchCount.isIn(line) else { return }
                    row.isOfUser = true
                } else if type != "assistant" {
                    guard type == "progress" else { return }
                }
            case 4 where key == "uuid": row.line = cursor.text()
            case 4 where key == "data":
                row.time = row.readProgress(&cursor) ?? row.time
            case 7 where key == "message": row.readMessage(&cursor)
            case 7 where key == "costUSD": row.cost = cursor.number()
            case 9 where key == "requestId": row.request = cursor.text()?.hash
            case 9 where key == "sessionId": row.session = cursor.text()
            case 9 where key == "timestamp": row.time = row.time ?? cursor.milliseconds()
            case 10 where key == "parentUuid": row.parent = cursor.text()
            case 10 where key == "forkedFrom":
                row.origin = cursor.member("sessionId") { $0.text() }
            case 13 where key == "toolUseResult":
                row.searchCount = cursor.member("searchCount") { $0.count() } ?? 0
            case 11 where key == "isSidechain": row.isSidechain = cursor.flag() ?? false
            default: cursor.skip()
            }
        }
        if cursor.isFailed { sink.rejectLine() } else { sink.isWholeLine = cursor.isAtEnd }
        guard row.usage.isStated || row.isOfUser else { return }
        guard !cursor.isFailed, !cursor.hasImpossibleCount, let time = row.time else { return sink.leaveOut() }
        let session =
            row.session.map { sink.session($0, project: project) }
            ?? sink.session(self.session, project: project)
        if let origin = row.origin?.displayText { sink.declare(origin: origin) }
        func record(_ counts: TokenCounts, id: UInt64) -> TokenRecord {
            TokenRecord(
                time: time, counts: counts, id: id, identity: row.request == nil ? .foreign : .foreignWithRequest,
                variant: row.request.map { UInt32(truncatingIfNeeded: $0 >> 16) } ?? 0,
                role: row.isSidechain ? .sidechain : .main, standing: row.origin == nil ? .own : .inOrigin)
        }
        if row.isOfUser {
            guard row.searchCount > 0, !statesSearches else { return }
            let id = ContentHash(seed: UInt64(bitPattern: ~time)).value
            return sink.add(
                record(TokenCounts(webSearches: row.searchCount), id: id), session: session, model: sink.model(model))
        }
        remember(row, at: time)
        let id = row.id ?? namelessID
        if let former = endEstimate(before: row, at: time) {
            var estimate = record(former.counts, id: id)
            estimate.time = former.time
            estimate.standing = .estimate
            sink.add(estimate, session: session)
        }
        func add(_ usage: Usage, id: UInt64, model: JSONCursor.Text?, cost: Double? = nil) {
            var record = record(usage.counts, id: id)
            record.tier = usage.tier
            record.isRegional = usage.isRegional
            record.ownCost = cost
            sink.add(record, session: session, model: sink.model(model.flatMap { $0 == "<synthetic>" ? nil : $0 }))
        }
        add(row.usage, id: id, model: row.model, cost: row.cost)
        for (index, further) in row.furtherAnswers(leavingOutIn: &sink).enumerated() {
            var furtherID = ContentHash(seed: id)
            furtherID.add(UInt64(index))
            add(further.usage, id: furtherID.value, model: further.model ?? row.model)
        }
    }

    /// For an answer that states none: copies keep the time, at which there may be several.
    private var namelessID: UInt64 {
        var id = ContentHash(seed: UInt64(bitPattern: nameless.time))
        id.add(UInt64(nameless.count))
        return id.value
    }

    /// The former line of an answer, if this one shows that its counts were an estimate: the answer has grown, and the
    /// prompt is another one.
    private mutating func endEstimate(before row: Row, at time: Int64) -> Unfinished? {
        guard let answer = row.answer else { return nil }
        let counts = row.usage.counts
        let former = unfinished.flatMap { $0.isContinued(by: row, answer, at: time) ? $0 : nil }
        unfinished = row.isEnd ? nil : Unfinished(answer, row, at: time)
        guard let former else { return nil }
        let hasGrown = counts.output > former.output || row.isEnd && counts.output == former.output
        if hasGrown, counts.prompt > 0 {
            // That of 0 is known to be none.
            return former.hasPrompt(of: counts) || former.counts.prompt == 0 ? nil : former
        }
        // The larger one counts, as of one request.
        unfinished?.keep(former)
        return nil
    }

    private mutating func remember(_ row: Row, at time: Int64) {
        if row.id == nil {
            nameless = Nameless(time: time, count: nameless.time == time ? nameless.count + 1 : 0)
        }
        statesSearches = row.usage.counts.webSearches > 0
        guard let name = row.model, name.hash != modelHash else { return }
        modelHash = name.hash
        // It is shortened and escaped where it is used.
        model = name.bytes.count <= Self.modelByteLimit ? name.string : nil
    }

    private struct Row {
        var time: Int64?
        var session: JSONCursor.Text?
        var request: UInt64?
        /// The session that a line was copied from.
        var origin: JSONCursor.Text?
        var isOfUser = false
        /// The line's own id, and that of the line that it follows.
        var line: JSONCursor.Text?
        var parent: JSONCursor.Text?
        /// Whether it states why the answer ended.
        var isEnd = false
        /// Whether it repeats a line of a subagent's file.
        var isOfAgent = false
        /// Stated by a tool's result.
        var searchCount = 0
        var isSidechain = false
        var cost: Double?
        var id: UInt64?
        var model: JSONCursor.Text?
        var usage = Usage()

        /// A hash of the answer's ids and its place; nil where it is told by neither.
        var answer: UInt64? {
            guard let id, !isOfAgent else { return nil }
            var hash = ContentHash(seed: id)
            hash.add(request ?? 0)
            hash.add(session?.hash ?? 0)
            hash.add(isSidechain ? 1 : 0)
            return hash.value
        }

        /// The answer that a subagent got meanwhile. Returns its time.
        mutating func readProgress(_ cursor: inout JSONCursor) -> Int64? {
            var time: Int64?
            guard cursor.enterObject() else { return nil }
            while let key = cursor.nextKey() {
                if key != "message" {
                    cursor.skip()
                    continue
                }
                guard cursor.enterObject() else { continue }
                isSidechain = true
                isOfAgent = true
                while let key = cursor.nextKey() {
                    if key == "message" {
                        readMessage(&cursor)
                    } else if key == "requestId" {
                        request = cursor.text()?.hash
                    } else if key == "timestamp" {
                        time = cursor.milliseconds()
                    } else {
                        cursor.skip()
                    }
                }
            }
            return time
        }

        mutating func readMessage(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                switch key {
                case "usage": usage.read(&cursor)
                case "id": id = cursor.text()?.hash
                case "model": model = cursor.text()
                case "stop_reason": isEnd = cursor.text() != nil
                default: cursor.skip()
                }
            }
        }

        /// Requests besides the one that the counts are of: of an adviser, of a compaction, and of a model that
        /// refused, whose answer another one then gave.
        func furtherAnswers(leavingOutIn sink: inout TokenSink) -> [(usage: Usage, model: JSONCursor.Text?)] {
            guard let iterations = usage.iterations else { return [] }
            var cursor = JSONCursor(iterations)
            guard cursor.enterArray() else { return [] }
            var answers: [(type: JSONCursor.Text, usage: Usage, model: JSONCursor.Text?)] = []
            while answers.count < Self.iterationLimit, cursor.nextElement() {
                guard cursor.enterObject() else { continue }
                var answer = Usage()
                var type: JSONCursor.Text?
                var model: JSONCursor.Text?
                cursor.hasImpossibleCount = false
                while let key = cursor.nextKey() {
                    switch key {
                    case "type": type = cursor.text()
                    case "model": model = cursor.text()
                    default: answer.read(key, &cursor)
                    }
                }
                if cursor.hasImpossibleCount {
                    sink.leaveOut()
                } else if let type {
                    answers.append((type, answer, model))
                }
            }
            let isFallback = answers.contains { $0.type == "fallback_message" }
            return answers.filter { answer in
                guard answer.usage.counts.total > 0 else { return false }
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
        var isRegional = false
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
                counts.cacheWrite5m = max(counts.cacheWrite5m, (cursor.count() ?? 0) &- counts.cacheWrite1h)
            case 23 where key == "cache_read_input_tokens":
                counts.cacheRead = cursor.count() ?? 0
            case 14 where key == "cache_creation": readCacheWrites(&cursor)
            case 21 where key == "output_tokens_details":
                counts.reasoning = cursor.member("thinking_tokens") { $0.count() } ?? 0
            case 15 where key == "server_tool_use":
                counts.webSearches = cursor.member("web_search_requests") { $0.count() } ?? 0
            case 10 where key == "iterations": iterations = cursor.value()
            case 5 where key == "speed": take(ServiceTier(stated: cursor.text()))
            case 12 where key == "service_tier": take(ServiceTier(stated: cursor.text()))
            case 13 where key == "inference_geo":
                switch cursor.text()?.string?.lowercased() {
                case "us": isRegional = true
                case nil, "", "global", "not_available": break
                default: take(.unknown)
                }
            default: cursor.skip()
            }
        }

        /// What is not known leaves the request without a price; the fast mode counts before a service tier.
        private mutating func take(_ stated: ServiceTier?) {
            guard let stated, tier != .unknown else { return }
            if tier == .standard || stated == .fast || stated == .unknown { tier = stated }
        }

        private mutating func readCacheWrites(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            var short = 0
            while let key = cursor.nextKey() {
                switch key {
                case "ephemeral_5m_input_tokens": short = cursor.count() ?? 0
                case "ephemeral_1h_input_tokens": counts.cacheWrite1h = cursor.count() ?? 0
                default: cursor.skip()
                }
            }
            counts.cacheWrite5m = max(short, counts.cacheWrite5m &- counts.cacheWrite1h)
        }
    }
}

extension ClaudeSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [ClaudeTokens()] }
}
