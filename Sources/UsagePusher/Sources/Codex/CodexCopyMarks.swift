/// Tells which lines of a rollout are, or may be, copies of another thread's.
///
/// A fork or a subagent's thread repeats lines of the thread that it continues, at their own times or under the time of
/// its own start [openai/codex, codex-rs/rollout]. The marks are in the first `session_meta`, or there is one of
/// another thread.
struct CodexCopyMarks: Codable, Sendable {
    /// The thread that the file is of.
    private(set) var thread: String?
    /// The thread that this one continues.
    private(set) var origin: String?
    /// Milliseconds since 1970.
    private var startedAt: Int64?
    /// Whether the first lines may be copies.
    private var isMarked = false
    /// Whether the total of the thread begins with that of its origin.
    private(set) var isFork = false
    /// Lines with a smaller ordinal are copies.
    private var firstOrdinal: Int?
    private var isInOwnMeta = false
    private var wasMarked = false
    /// Whether copies have the times of their originals.
    private var keepsTimes = false
    /// Whether the current turn began after the thread; nil where their ids do not tell.
    private var isOwnTurn: Bool?

    /// Milliseconds from the start of a thread in which copies are mostly written, and those in which no answer can
    /// have come.
    private static let copyInterval: Int64 = 2_000
    private static let startInterval: Int64 = 1_000
    /// Milliseconds that an answer takes at least, and for which copying does not pause.
    private static let answerInterval: Int64 = 250

    /// Begins a `session_meta` line. Returns whether it is the first one.
    mutating func begin(at time: Int64?) -> Bool {
        isInOwnMeta = thread == nil
        if isInOwnMeta {
            startedAt = time
            thread = ""
        } else {
            // Unless it is of this thread, which was resumed.
            wasMarked = isMarked
            isMarked = true
        }
        return isInOwnMeta
    }

    /// Reads a member of that line's payload if it is a mark, and passes over any other.
    mutating func read(_ key: JSONCursor.Text, _ payload: inout JSONCursor) {
        if key == "id" {
            let id = payload.text()?.displayText ?? ""
            if isInOwnMeta {
                thread = id
            } else if id == thread, !id.isEmpty {
                isMarked = wasMarked
            } else {
                mark(origin: id)
            }
        } else if key == "forked_from_id" || key == "parent_thread_id" {
            let isFork = key == "forked_from_id"
            if mark(origin: payload.text()?.displayText), isFork, isInOwnMeta { self.isFork = true }
        } else if key == "source" {
            // A review, which is named by a string, starts without copies.
            let spawn = payload.member("subagent") { cursor -> JSONCursor? in
                let object = cursor.branch()
                var first = object
                return first.value().first == UInt8(ascii: "{") ? object : nil
            }
            guard var spawn else { return }
            isMarked = true
            mark(
                origin: spawn.member("thread_spawn") { spawn in
                    spawn.member("parent_thread_id") { $0.text() }
                }?.displayText)
        } else if key == "subagent_history_start_ordinal", isInOwnMeta {
            firstOrdinal = payload.count() ?? firstOrdinal
        } else if key == "history_base", isInOwnMeta {
            firstOrdinal = payload.member("end_ordinal_exclusive") { $0.count() } ?? firstOrdinal
        } else if key == "timestamp", isInOwnMeta {
            let time = payload.milliseconds()
            startedAt = startedAt ?? time
        } else {
            payload.skip()
        }
    }

    @discardableResult
    private mutating func mark(origin id: String?) -> Bool {
        guard let id, !id.isEmpty, id != thread else { return false }
        isMarked = true
        origin = origin ?? id
        return true
    }

    /// Reads a line, if it is a `session_meta`.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        var cursor = JSONCursor(line)
        var time: Int64?
        var isMeta = false
        var payload: JSONCursor?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "timestamp": time = cursor.milliseconds()
            case "type": isMeta = cursor.text().map { $0 == "session_meta" } ?? false
            case "payload": payload = cursor.branch()
            default: cursor.skip()
            }
        }
        guard isMeta, var payload, payload.enterObject() else { return }
        let before = self
        _ = begin(at: time)
        while let key = payload.nextKey() { read(key, &payload) }
        if payload.isFailed { self = before }
    }

    /// Learns from the time of a line whether copies keep theirs.
    mutating func read(time: Int64) {
        if let startedAt, time < startedAt - Self.startInterval { keepsTimes = true }
    }

    /// Begins a turn, of which the id is mostly a UUID of version 7, as the thread's is.
    mutating func beginTurn(_ id: JSONCursor.Text?) {
        isOwnTurn = nil
        guard let turn = id.flatMap({ Self.creationTime(ofUUID: $0.bytes) }),
            let start = thread.flatMap({ Self.creationTime(ofUUID: $0.utf8) })
        else { return }
        isOwnTurn = turn >= start
    }

    /// Milliseconds since 1970; nil unless it is a UUID of version 7 [RFC 9562, section 5.7].
    private static func creationTime(ofUUID id: some Collection<UInt8>) -> Int64? {
        let id = Array(id.prefix(37))
        guard id.count == 36, id[8] == UInt8(ascii: "-"), id[14] == UInt8(ascii: "7") else { return nil }
        return Int64(String(decoding: id[..<8] + id[9..<13], as: UTF8.self), radix: 16)
    }

    /// Whether a line is the thread's own although it may have the time of a copy, if it states by how much the total
    /// grows.
    ///
    /// - Parameter previous: the time of the line before.
    func isOwn(at time: Int64, after previous: Int64?, ordinal: Int?) -> Bool {
        if let ordinal, let firstOrdinal { return ordinal >= firstOrdinal }
        if let isOwnTurn { return isOwnTurn }
        if keepsTimes, let startedAt { return time > startedAt }
        guard let previous, !isWithin(Self.startInterval, time, nil) else { return false }
        return time - previous >= Self.answerInterval
    }

    /// Whether a line can only be a copy.
    func isCopy(at time: Int64, ordinal: Int?) -> Bool {
        if let ordinal, let firstOrdinal, ordinal < firstOrdinal { return true }
        if isMarked, isOwnTurn == false { return true }
        return isWithin(Self.startInterval, time, ordinal)
    }

    /// Whether a line's time is that of a copy. A copy may have another one if it took long to write it, and so may
    /// have the first line of the thread itself.
    func isCopyTime(_ time: Int64, ordinal: Int? = nil) -> Bool {
        isWithin(Self.copyInterval, time, ordinal)
    }

    private func isWithin(_ interval: Int64, _ time: Int64, _ ordinal: Int?) -> Bool {
        guard isMarked || firstOrdinal != nil && ordinal == nil, let startedAt else { return false }
        return time <= startedAt + interval
    }
}
