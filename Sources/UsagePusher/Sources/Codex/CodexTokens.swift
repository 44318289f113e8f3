import Essentials

/// The tokens in the rollouts of Codex.
///
/// Since 0.153 each response has a `token_usage_record` with an id, which one `token_count` line repeats. Before, these
/// lines alone state the thread's total, and what counts is by how much that has grown: a line is repeated when only
/// the limits have changed. Versions may take turns in a thread. A fork, and a subagent's thread, begin with copies of
/// such lines, which state the same numbers as the originals: see `TokenMerge`. docs/log-shapes.md has the shapes.
struct CodexTokens: TokenLog {
    let source = "codex"
    let version = 6

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
    private var directory: String?
    private var settings = Settings()
    /// The last turns, the newest last.
    private var turns: [Turn] = []
    private var marks = CodexCopyMarks()
    /// Records of this turn that no `token_count` has repeated yet.
    private var unrepeated: [Request] = []
    /// The last `token_count`, if no record before it states what it does.
    private var unrecorded: Stated?
    /// The time of the last line that states one, for lines whose time cannot be read.
    private var lastTime: Int64?
    private var totals = CodexTotals()
    /// Requests before the first line that names a model.
    private var pending: [Request] = []

    private static let turnLimit = 8
    private static let pendingLimit = 64

    /// What the lines that follow were requested with.
    private struct Settings: Codable {
        var model: String?
        var tier = ServiceTier.standard
    }

    private struct Turn: Codable {
        /// 0 for none.
        var id: UInt64
        var settings: Settings
    }

    private struct Stated: Codable {
        var usage: CodexUsage
        var turn: UInt64?
    }

    private struct Request: Codable {
        var usage: CodexUsage
        var id: UInt64
        var time: Int64
        /// How often counts had begun again; nil for a record.
        var restartCount: UInt32?
        var isProbableCopy = false
        /// Whether another line states it, or it can only be a copy. Kept, since others may copy it from here.
        var isCountedElsewhere = false
        var settings = Settings()

        var standing: TokenRecord.Standing {
            if isCountedElsewhere { return .elsewhere(isProbableCopy: isProbableCopy) }
            return isProbableCopy ? .probableCopy : .own
        }
    }

    init(name: String) { thread = name }

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
        let previous = lastTime
        time = time ?? lastTime
        lastTime = time
        defer { if payload.isFailed { sink.rejectLine() } }
        if type == "event_msg" {
            addEvent(&payload, at: time, after: previous, ordinal: ordinal, to: &sink)
        } else if type == "token_usage_record" {
            addRecord(&payload, at: time, isRepeated: true, to: &sink)
        } else if type == "turn_context" {
            readTurn(&payload, to: &sink)
        } else if type == "session_meta" {
            readMeta(&payload, at: time, to: &sink)
        } else if type == "compacted" {
            while let key = payload.nextKey() {
                if key == "latest_token_usage_record" {
                    guard payload.enterObject() else { continue }
                    addRecord(&payload, at: time, isRepeated: false, to: &sink)
                } else {
                    payload.skip()
                }
            }
        }
    }

    private mutating func readTurn(_ object: inout JSONCursor, to sink: inout TokenSink) {
        var turn: JSONCursor.Text?
        var slug: String?
        var model = settings.model
        settings.model = nil
        while let key = object.nextKey() {
            switch key {
            case "turn_id": turn = object.text()
            case "model_info": slug = object.member("slug") { $0.text() }?.displayText
            case "model":
                // A blank one says that the turn before is over.
                guard let name = object.text() else { continue }
                settings.model = name.displayText
                model = nil
            default: readSetting(key, &object)
            }
        }
        settings.model = settings.model ?? slug ?? model
        marks.beginTurn(turn)
        unrepeated = []
        turns.append(Turn(id: turn?.hash ?? 0, settings: settings))
        if turns.count > Self.turnLimit { turns.removeFirst() }
        addPending(to: &sink)
    }

    private mutating func readSetting(_ key: JSONCursor.Text, _ object: inout JSONCursor) {
        if key == "model" {
            settings.model = object.text()?.displayText ?? settings.model
        } else if key == "service_tier" {
            settings.tier = ServiceTier(stated: object.text()) ?? .standard
        } else {
            object.skip()
        }
    }

    private mutating func readMeta(_ payload: inout JSONCursor, at time: Int64?, to sink: inout TokenSink) {
        let before = self
        let isOwn = marks.begin(at: time)
        while let key = payload.nextKey() {
            switch key {
            case "session_id" where isOwn: session = payload.text()?.displayText
            case "cwd" where isOwn: directory = payload.text()?.displayText
            default: marks.read(key, &payload)
            }
        }
        guard !payload.isFailed else {
            // It was cut off, and written again.
            self = before
            return
        }
        if isOwn, let id = marks.thread, !id.isEmpty { thread = id }
        sink.declare(thread: thread, origin: marks.origin)
    }

    /// - Parameter isRepeated: whether a `token_count` follows that repeats it.
    private mutating func addRecord(
        _ record: inout JSONCursor, at time: Int64?, isRepeated: Bool, to sink: inout TokenSink
    ) {
        var thread: JSONCursor.Text?
        var response: JSONCursor.Text?
        var turn: UInt64?
        var usage: CodexUsage?
        var tier: ServiceTier?
        while let key = record.nextKey() {
            switch key {
            case "thread_id": thread = record.text()
            case "response_id": response = record.text()
            case "turn_id": turn = record.text()?.hash
            case "usage": usage = CodexUsage(&record)
            case "service_tier": tier = ServiceTier(stated: record.text())
            default: record.skip()
            }
        }
        guard let thread, let response, let usage, thread.displayText == self.thread else { return }
        guard !record.isFailed, !record.hasImpossibleCount, let time else { return sink.leaveOut() }
        // The record itself was lost, if this is one that was written later, or both were written the other way round.
        let isCounted =
            unrecorded.map { $0.usage.isOfResponse(usage) && ($0.turn ?? turn) == (turn ?? $0.turn) } ?? false
        var id = ContentHash()
        id.add(self.thread)
        id.add(UnsafeRawBufferPointer(response.bytes))
        let ofTurn = turn.flatMap { turn in turns.last { $0.id == turn }?.settings }
        var request = Request(
            usage: usage, id: id.value, time: time, isCountedElsewhere: isCounted, settings: ofTurn ?? settings)
        request.settings.tier = tier ?? request.settings.tier
        if isRepeated {
            unrecorded = nil
            if !isCounted { unrepeated.append(request) }
            if unrepeated.count > Self.turnLimit { unrepeated.removeFirst() }
        }
        add(request, to: &sink)
    }

    private mutating func addEvent(
        _ payload: inout JSONCursor, at time: Int64?, after previous: Int64?, ordinal: Int?, to sink: inout TokenSink
    ) {
        var last: CodexUsage?
        var new: CodexUsage?
        // Where no turn names one.
        var model: String?
        var tier: ServiceTier?
        while let key = payload.nextKey() {
            switch key {
            case "type":
                guard let type = payload.text(),
                    type == "token_count" || type == "thread_settings_applied"
                else { return }
            case "thread_settings":
                guard payload.enterObject() else { continue }
                settings.tier = .standard
                while let key = payload.nextKey() { readSetting(key, &payload) }
                addPending(to: &sink)
            case "service_tier": tier = ServiceTier(stated: payload.text())
            case "info":
                guard payload.enterObject() else { continue }
                while let key = payload.nextKey() {
                    if key == "total_token_usage" {
                        new = CodexUsage(&payload)
                    } else if key == "last_token_usage" {
                        last = CodexUsage(&payload)
                    } else if key == "model" {
                        model = payload.text()?.displayText
                    } else if key == "service_tier" {
                        tier = ServiceTier(stated: payload.text())
                    } else {
                        payload.skip()
                    }
                }
            default: payload.skip()
            }
        }
        guard !payload.isFailed, !payload.hasImpossibleCount else {
            if new != nil || last != nil { sink.leaveOut() }
            return
        }
        guard let used = totals.use(in: new, last, isInherited: marks.isFork), new?.isEmpty != true else { return }
        guard let time else { return sink.leaveOut() }
        marks.read(time: time)
        let isOwn = used == last && marks.isOwn(at: time, after: previous, ordinal: ordinal)
        let isCopy = !isOwn && marks.isCopy(at: time, ordinal: ordinal)
        let record = takeRecord(of: used, last)
        if var record, let tier {
            record.settings.tier = tier
            add(record, to: &sink)
        }
        unrecorded = record != nil || isCopy ? nil : Stated(usage: last ?? used, turn: turns.last?.id)
        var request = Request(
            usage: used, id: totals.id(of: new, last), time: time, restartCount: totals.restartCount,
            isProbableCopy: !isOwn && marks.isCopyTime(time, ordinal: ordinal),
            isCountedElsewhere: record != nil || isCopy, settings: settings)
        request.settings.model = settings.model ?? model
        request.settings.tier = tier ?? settings.tier
        add(request, to: &sink)
    }

    /// The record that a `token_count` repeats.
    private mutating func takeRecord(of used: CodexUsage, _ last: CodexUsage?) -> Request? {
        guard
            let index = unrepeated.firstIndex(where: { $0.usage.isOfResponse(last) || $0.usage.isOfResponse(used) })
        else { return nil }
        defer { unrepeated.removeFirst(index + 1) }
        return unrepeated[index]
    }

    private mutating func add(_ request: Request, to sink: inout TokenSink) {
        guard !request.usage.isEmpty else { return }
        if request.settings.model == nil, pending.count < Self.pendingLimit {
            pending.append(request)
        }
        sink.add(
            TokenRecord(
                time: request.time, counts: request.usage.counts, id: request.id,
                identity: request.restartCount == nil ? .own : .foreign, variant: request.restartCount ?? 0,
                standing: request.standing, tier: request.settings.tier),
            session: sink.session(session ?? thread, project: directory),
            model: sink.model(request.settings.model))
    }

    /// Adds requests again, now that their model is known.
    private mutating func addPending(to sink: inout TokenSink) {
        guard !pending.isEmpty, let model = settings.model else { return }
        for var request in pending {
            request.settings.model = model
            add(request, to: &sink)
        }
        pending = []
    }

}

extension CodexSource: TokenRecording {
    var tokenLogs: [any TokenLog] { [CodexTokens()] }
}
