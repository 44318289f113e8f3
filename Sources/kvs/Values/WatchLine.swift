import Foundation
import KVStore
import TerminalText

/// One changed key as `watch` prints it.
struct WatchLine {
    var key: String
    var reason: StoreChangeReason
    /// Nil if the key was removed.
    var byteCount: Int?
    /// When the change was received.
    var time: Date

    struct Document: Encodable, Equatable {
        var bytes: Int?
        var key: String
        var reason: String
        var removed: Bool
        var time: String
    }

    var document: Document {
        Document(
            bytes: byteCount, key: key, reason: reasonName, removed: byteCount == nil,
            time: DateFormat.text(time))
    }

    var text: String {
        let size = byteCount.map { "\($0) bytes" } ?? "removed"
        let time = DateFormat.text(
            Date(timeIntervalSinceReferenceDate: time.timeIntervalSinceReferenceDate.rounded(.down))
        )
        return "\(time)  \(reasonName)  \(VisibleText.escape(key))  \(size)"
    }

    private var reasonName: String {
        switch reason {
        case .serverChange: "change"
        case .initialSyncChange: "initial-sync"
        case .quotaViolationChange: "over-quota"
        case .accountChange: "account-change"
        }
    }
}
