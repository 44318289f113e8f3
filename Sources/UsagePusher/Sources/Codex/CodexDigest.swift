import Foundation
import SnapshotModels

/// The rate limits in the lines of Codex rollouts taken together.
///
/// Lines are sparse: a null never clears another line's value. Everything is kept per bucket and
/// window, or as the newest value with its time, so that the order of lines does not matter.
struct CodexDigest: Sendable {
    struct Slot: Sendable, Hashable {
        var bucket: String
        var kind: WindowKind
    }

    private static let slotLimit = 64

    private(set) var windows: [Slot: WindowReadings] = [:]
    private(set) var bucketNames: [String: Timestamped<String>] = [:]
    /// Per bucket the newest line with windows or a reached type; nil inside when it named none.
    private(set) var reached: [String: Timestamped<String?>] = [:]
    private(set) var credits: Timestamped<CodexRow.Credits>?
    private(set) var spendLimit: Timestamped<SyncBudget>?
    private(set) var isSpendLimitReached: Timestamped<Bool>?
    private(set) var plan: Timestamped<String>?

    /// Kinds of the main bucket's windows, obsolete or not.
    var mainKinds: [WindowKind] {
        windows.keys.filter { $0.bucket == CodexRow.mainBucket }.map(\.kind).sorted()
    }

    /// - Parameter now: a line from the future counts as observed now, so that a wrong clock does
    ///   not win forever.
    mutating func add(_ row: CodexRow, now: Date) {
        let at = min(row.at, now)
        for window in row.windows {
            let slot = Slot(bucket: row.bucket, kind: window.kind)
            merge(slot) { $0.add(window.reading.observed(notAfter: now)) }
        }
        if !row.windows.isEmpty || row.reachedType != nil, reached.count < Self.slotLimit {
            reached[row.bucket].keepNewer(Timestamped(value: row.reachedType, at: at))
        }
        if let name = row.bucketName, bucketNames.count < Self.slotLimit {
            bucketNames[row.bucket].keepNewer(Timestamped(value: name, at: at))
        }
        credits.keepNewer(row.credits.map { .init(value: $0, at: at) })
        spendLimit.keepNewer(row.spendLimit.map { .init(value: $0, at: at) })
        isSpendLimitReached.keepNewer(row.isSpendLimitReached.map { .init(value: $0, at: at) })
        plan.keepNewer(row.plan.map { .init(value: $0, at: at) })
    }

    mutating func merge(_ other: CodexDigest) {
        for (slot, readings) in other.windows {
            merge(slot) { $0.merge(readings) }
        }
        for (bucket, name) in other.bucketNames { bucketNames[bucket].keepNewer(name) }
        for (bucket, type) in other.reached { reached[bucket].keepNewer(type) }
        credits.keepNewer(other.credits)
        spendLimit.keepNewer(other.spendLimit)
        isSpendLimitReached.keepNewer(other.isSpendLimitReached)
        plan.keepNewer(other.plan)
    }

    func current(_ kind: WindowKind, at now: Date) -> WindowReading? {
        windows[Slot(bucket: CodexRow.mainBucket, kind: kind)]?.current(kind, at: now)
    }

    /// The newest reading, obsolete or not.
    func newest(_ kind: WindowKind, at now: Date) -> WindowReading? {
        windows[Slot(bucket: CodexRow.mainBucket, kind: kind)]?.newest(at: now)
    }

    private mutating func merge(_ slot: Slot, _ change: (inout WindowReadings) -> Void) {
        guard windows[slot] != nil || windows.count < Self.slotLimit else { return }
        change(&windows[slot, default: WindowReadings()])
    }
}
