import Essentials
import LocalFiles

/// The beginning of a rollout, which tells whether it starts with copies of another session's lines.
struct CodexRolloutHead: Sendable {
    /// The first line holds the session's instructions. Two lines mostly fit into the first of these.
    private static let byteCounts = [32_768, 262_144]
    static let byteLimit = byteCounts[1]
    private static let newline = UInt8(ascii: "\n")
    private static let lineLimit = 8

    private var marks = CodexCopyMarks()
    /// The fingerprint of the account that began the session, where the file names it.
    private(set) var creator: String?

    init() {}

    init(_ file: OpenFile, budget: inout ScanBudget) {
        var bytes: [UInt8] = []
        for byteCount in Self.byteCounts where bytes.count(where: { $0 == Self.newline }) < 2 {
            let count = min(byteCount, budget.bytesLeft)
            // What keeps the file from being read is a finding of its scan.
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
        for line in bytes.split(separator: Self.newline, maxSplits: Self.lineLimit).prefix(Self.lineLimit) {
            line.withUnsafeBytes { marks.read($0) }
        }
        // In the session's own line, the first one.
        creator =
            bytes.withUnsafeBytes { bytes in
                var cursor = JSONCursor(bytes)
                return cursor.member("payload") {
                    $0.member("creator_account_id") { $0.text()?.displayText }
                }
            }?.fingerprint
    }

    func isCopy(_ time: Date) -> Bool {
        marks.isCopyTime(Int64((time.timeIntervalSince1970 * 1_000).rounded()))
    }
}
