/// Tells which lines of a rollout are copies of another session's.
///
/// A fork or a subagent's session repeats its parent's lines under the time of its own start [openai/codex,
/// codex-rs/rollout]. The marks are in the first `session_meta`, or there is a second one.
struct CodexCopyMarks: Codable, Sendable {
    private var metaCount = 0
    /// Milliseconds since 1970.
    private var startedAt: Int64?
    /// Whether the first lines may be copies.
    private var isMarked = false
    /// Lines with a smaller ordinal are copies.
    private var firstOrdinal: Int?

    /// Milliseconds from the start of a session in which copies are written.
    private static let copyInterval: Int64 = 2_000

    /// Counts a `session_meta` line. Returns whether it is the session's own.
    mutating func begin(at time: Int64?) -> Bool {
        metaCount += 1
        if metaCount == 1 { startedAt = time } else { isMarked = true }
        return metaCount == 1
    }

    /// Reads a member of that line's payload if it is a mark, and passes over any other.
    mutating func read(_ key: JSONCursor.Text, _ payload: inout JSONCursor) {
        let isOwn = metaCount == 1
        if key == "forked_from_id" || key == "parent_thread_id" {
            if payload.text() != nil { isMarked = true }
        } else if key == "source" {
            // A review, which is named by a string, starts without copies.
            let hasParent = payload.member("subagent") { $0.value().first == UInt8(ascii: "{") }
            if hasParent == true { isMarked = true }
        } else if key == "subagent_history_start_ordinal", isOwn {
            firstOrdinal = payload.count() ?? firstOrdinal
        } else if key == "history_base", isOwn {
            firstOrdinal = payload.member("end_ordinal_exclusive") { $0.count() } ?? firstOrdinal
        } else if key == "timestamp", isOwn {
            let time = payload.milliseconds()
            startedAt = startedAt ?? time
        } else {
            payload.skip()
        }
    }

    /// Reads a line, if it is a `session_meta`.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        var cursor = JSONCursor(line)
        var time: Int64?
        var isMeta = false
        var payload: JSONCursor?
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "timestamp" {
                time = cursor.milliseconds()
            } else if key == "type" {
                isMeta = cursor.text().map { $0 == "session_meta" } ?? false
            } else if key == "payload" {
                payload = cursor.branch()
            } else {
                cursor.skip()
            }
        }
        guard isMeta, var payload, payload.enterObject() else { return }
        _ = begin(at: time)
        while let key = payload.nextKey() { read(key, &payload) }
    }

    /// - Parameter ordinal: of the line, where it is known and the line states one.
    func isCopy(at time: Int64, ordinal: Int? = nil) -> Bool {
        if let ordinal, let firstOrdinal, ordinal < firstOrdinal { return true }
        guard isMarked || firstOrdinal != nil && ordinal == nil, let startedAt else { return false }
        return abs(time - startedAt) <= Self.copyInterval
    }
}
