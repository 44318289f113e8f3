import Foundation

/// What the lines of Codex rollouts say together.
///
/// Lines are sparse: a null never clears what another line said. Everything is kept per bucket and
/// window, or as the newest value with its time, so that the order of lines does not matter.
struct CodexDigest: Sendable {
    struct Slot: Sendable, Hashable {
        var bucket: String
        var kind: WindowKind
    }

    private static let slotLimit = 64

    private(set) var windows: [Slot: WindowReadings] = [:]
    private(set) var bucketNames: [String: Dated<String>] = [:]
    /// Per bucket the newest line with windows or a reached type; nil inside when it named none.
    private(set) var reached: [String: Dated<String?>] = [:]
    private(set) var credits: Dated<CodexRow.Credits>?
    private(set) var spendLimit: Dated<CodexRow.SpendLimit>?
    private(set) var isSpendLimitReached: Dated<Bool>?
    private(set) var plan: Dated<String>?

    /// Kinds of the main bucket's windows, still valid or not.
    var mainKinds: [WindowKind] {
        windows.keys.filter { $0.bucket == CodexRow.mainBucket }.map(\.kind).sorted()
    }

    /// - Parameter now: a line from the future counts as seen now, so that a wrong clock does not
    ///   win for ever.
    mutating func add(_ row: CodexRow, now: Date) {
        let at = min(row.at, now)
        for window in row.windows {
            var reading = window.reading
            reading.observedAt = at
            add(reading, to: Slot(bucket: row.bucket, kind: window.kind))
        }
        if !row.windows.isEmpty || row.reachedType != nil, reached.count < Self.slotLimit {
            reached[row.bucket].keepNewer(Dated(value: row.reachedType, at: at))
        }
        if let name = row.bucketName, bucketNames.count < Self.slotLimit {
            bucketNames[row.bucket].keepNewer(Dated(value: name, at: at))
        }
        credits.keepNewer(row.credits.map { Dated(value: $0, at: at) })
        spendLimit.keepNewer(row.spendLimit.map { Dated(value: $0, at: at) })
        isSpendLimitReached.keepNewer(row.isSpendLimitReached.map { Dated(value: $0, at: at) })
        plan.keepNewer(row.plan.map { Dated(value: $0, at: at) })
    }

    mutating func merge(_ other: CodexDigest) {
        for (slot, readings) in other.windows {
            guard windows[slot] != nil || windows.count < Self.slotLimit else { continue }
            windows[slot, default: WindowReadings()].merge(readings)
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

    /// The newest reading, still valid or not.
    func newest(_ kind: WindowKind, before now: Date) -> WindowReading? {
        windows[Slot(bucket: CodexRow.mainBucket, kind: kind)]?.newest(before: now)
    }

    private mutating func add(_ reading: WindowReading, to slot: Slot) {
        guard windows[slot] != nil || windows.count < Self.slotLimit else { return }
        windows[slot, default: WindowReadings()].add(reading)
    }
}
