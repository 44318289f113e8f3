import ClipCore
import Essentials

/// What the programs of this machine remember beside the items.
struct HistoryState: Codable, Equatable {
    var pause = PauseState()
    /// How many copies were not kept, by the reason.
    var skipped: [String: Int] = [:]
    var copyOuts = RecentCopyOuts()
    /// The item that is in the clipboard, if it was kept.
    var inClipboard: String?
    /// When something was copied on this machine last.
    var lastCopy: Timestamp?
    /// The directory of the replicas of the account with which the history is shared; nil if it is not.
    var sharedWith: String?

    /// Counts a copy that was not kept. Reasons are few: they contain nothing of a copy.
    mutating func count(_ reason: SkipReason) {
        let name = reason.description
        guard skipped[name] != nil || skipped.count < 64 else { return }
        skipped[name, default: 0] += 1
    }
}
