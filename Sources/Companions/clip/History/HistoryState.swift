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

    /// Why the collector has no display at present.
    var displayProblem: String?
    /// How many items went for others, by the limit, and by other machines.
    var dropped: [String: Int]?

    static let droppedElsewhere = "elsewhere"

    mutating func countDropped(_ name: String, _ count: Int) {
        guard count > 0 else { return }
        dropped = (dropped ?? [:]).merging([name: count], uniquingKeysWith: +)
    }

    /// What of the dropped items there is to say, as sentences.
    func droppedText(_ limits: HistoryLimits) -> [String] {
        let texts = [
            (HistoryLimits.Limit.size.rawValue, "for newer ones: it holds \(limits.size) (historySize)"),
            (
                HistoryLimits.Limit.bytes.rawValue,
                "for newer ones: it holds \(ItemLabel.byteCount(UInt64(limits.byteLimit)))"
            ),
            (Self.droppedElsewhere, "on other machines, for newer ones or by hand"),
        ]
        return texts.compactMap { name, text in dropped?[name].map { "\($0.items) left the history \(text)" } }
    }

    /// Counts a copy that was not kept. Reasons are few: they contain nothing of a copy.
    mutating func count(_ reason: SkipReason) {
        let name = reason.description
        guard skipped[name] != nil || skipped.count < 64 else { return }
        skipped[name, default: 0] += 1
    }
}

/// Whether copies are ignored: all of them, or the next one.
struct PauseState: Codable, Hashable, Sendable {
    private(set) var isPaused = false
    private(set) var isOnlyNext = false

    mutating func pause(onlyNext: Bool = false) {
        (isPaused, isOnlyNext) = (true, onlyNext)
    }

    mutating func resume() { self = PauseState() }

    /// Whether a copy is looked at. After the one that is ignored alone, the next is again.
    mutating func admitsCopy() -> Bool {
        guard isPaused else { return true }
        if isOnlyNext { resume() }
        return false
    }
}

/// Items that were copied out a moment ago, whose contents then come back from the clipboard.
struct RecentCopyOuts: Codable, Hashable, Sendable {
    static let milliseconds: Int64 = 10_000
    /// In milliseconds since 1970, by the name of the key.
    private var times: [String: Int64] = [:]

    /// - Parameter key: of what was put into the clipboard, which may be one part of an item.
    mutating func remember(_ key: ItemKey, at time: Timestamp) {
        times = times.filter { isRecent($0.value, time) }
        times[key.name] = time.milliseconds
    }

    func contains(_ key: ItemKey, at time: Timestamp) -> Bool { times[key.name].map { isRecent($0, time) } ?? false }

    private func isRecent(_ copied: Int64, _ time: Timestamp) -> Bool {
        (0...Self.milliseconds).contains(time.milliseconds(since: Timestamp(milliseconds: copied)))
    }
}
