import Essentials
import KVStoreWire
import KVStoreEssentials
import TerminalText

/// One changed key as `watch` prints it: as a JSON object or as text.
struct WatchLine: Encodable {
    /// Nil if the key was removed.
    let bytes: Int?
    let key: String
    let reason: String
    let removed: Bool
    /// When the change was received.
    let time: Date

    init(key: String, reason: StoreChangeReason, byteCount: Int?, time: Date) {
        bytes = byteCount
        self.key = key
        self.reason =
            switch reason {
            case .serverChange: "change"
            case .initialSyncChange: "initial-sync"
            case .quotaViolationChange: "over-quota"
            case .accountChange: "account-change"
            }
        removed = byteCount == nil
        self.time = time
    }

    /// Escaped for a terminal.
    var text: String {
        let second = time.timeIntervalSinceReferenceDate.rounded(.down)
        return [
            DateFormat.text(Date(timeIntervalSinceReferenceDate: second)), reason,
            VisibleText.escape(key), bytes.map { "\($0) bytes" } ?? "removed",
        ].joined(separator: "  ")
    }
}
