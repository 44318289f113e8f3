import Foundation
import LocalFiles

/// The beginning of a rollout, which tells whether it starts with copies of another session's lines.
///
/// A fork or a subagent's session repeats its parent's lines under the time of its own start [openai/codex,
/// codex-rs/rollout]. The marks: `forked_from_id`, a subagent's parent or start ordinal in the first `session_meta`, or
/// a second `session_meta`.
struct CodexRolloutHead: Sendable {
    /// The first line holds the session's instructions. Two lines mostly fit into the first of these.
    private static let byteCounts = [32_768, 262_144]
    static let byteLimit = byteCounts[1]
    private static let newline = UInt8(ascii: "\n")
    /// Seconds from the start of the session in which copies are written.
    private static let copyInterval: TimeInterval = 2

    /// When the copies were written; nil for a session that begins by itself.
    private(set) var copiedAt: Date?

    init() {}

    init(_ file: OpenFile, budget: inout ScanBudget) {
        var bytes: [UInt8] = []
        for byteCount in Self.byteCounts where bytes.count(where: { $0 == Self.newline }) < 2 {
            let count = min(byteCount, budget.bytesLeft)
            guard count > 0, let read = try? file.bytes(at: 0, count: count) else {
                self.init()
                return
            }
            budget.recordRead(read.count)
            bytes = read
        }
        self.init(bytes)
    }

    /// - Parameter bytes: the beginning of the text, up to `byteLimit`.
    init(_ bytes: [UInt8]) {
        var metas: [JSONFields] = []
        for line in bytes.split(separator: Self.newline, maxSplits: 8).prefix(8) {
            guard let fields = JSONFields(Data(line)), fields.text("type") == "session_meta" else {
                continue
            }
            metas.append(fields)
            if metas.count == 2 { break }
        }
        guard let own = metas.first, let payload = own.fields("payload") else { return }
        let isMarked =
            metas.count > 1 || payload.text("forked_from_id", "parent_thread_id") != nil
            || payload.number("subagent_history_start_ordinal") != nil
            || payload.fields("source")?.fields("subagent") != nil
        if isMarked { copiedAt = own.date("timestamp") ?? payload.date("timestamp") }
    }

    func isCopy(_ time: Date) -> Bool {
        copiedAt.map { abs(time.timeIntervalSince($0)) <= Self.copyInterval } ?? false
    }
}
