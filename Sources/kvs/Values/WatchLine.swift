import Foundation
import KVStore
import TerminalText

/// One changed key as `watch` prints it.
struct WatchLine {
    let document: Document
    let text: String

    struct Document: Encodable, Equatable {
        var bytes: Int?
        var key: String
        var reason: String
        var removed: Bool
        var time: String
    }

    /// - Parameters:
    ///   - byteCount: nil if the key was removed.
    ///   - time: when the change was received.
    init(key: String, reason: StoreChangeReason, byteCount: Int?, time: Date) {
        let reason =
            switch reason {
            case .serverChange: "change"
            case .initialSyncChange: "initial-sync"
            case .quotaViolationChange: "over-quota"
            case .accountChange: "account-change"
            }
        document = Document(
            bytes: byteCount, key: key, reason: reason, removed: byteCount == nil,
            time: DateFormat.text(time))
        let second = time.timeIntervalSinceReferenceDate.rounded(.down)
        text = [
            DateFormat.text(Date(timeIntervalSinceReferenceDate: second)), reason,
            VisibleText.escape(key), byteCount.map { "\($0) bytes" } ?? "removed",
        ].joined(separator: "  ")
    }
}
