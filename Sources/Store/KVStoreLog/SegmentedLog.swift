// Bytes on disk: checksummed frames in preallocated segments, recovery and compaction, over a
// storage protocol and its files. Not here: what a frame says, which is up to the owner of the log.

import LocalFiles

/// An append-only log of checksummed frames in preallocated segments.
///
/// It serves a replica, which several processes may have open at once, and the daemon, which owns its log alone. It
/// keeps no payloads: the owner visits the frames when it opens the log and holds the live state in memory. One owner
/// calls it from one thread at a time; only `perform()` of a `PendingSync` or `PendingSegment` may run concurrently.
///
/// Invariant: frames before `end` of the active segment are valid, and everything after is zero, or `dirtyTail`, or
/// `keptTail`, or, on a shared log, what another process has written or is writing.
/// Invariant: on a shared log a frame that was once valid is never taken back, because a reader without the lock may
/// have seen it.
/// Invariant: every segment but the last was synced before the next one was created.
package final class SegmentedLog {
    package struct Options: Sendable {
        /// Bytes of a new segment; a larger group of frames gets a larger segment.
        package var segmentByteCount: Int
        /// Whether other processes may append: every write then runs inside `exclusively`.
        package var isShared: Bool
        /// Identifies a new log.
        package var newLogID: UInt64
        /// Whether damage before the tail makes `open` throw (false), or is reported while every valid frame is still
        /// visited (true). The owner then rewrites the log; until it has, a torn tail stays too, for the next process
        /// that opens the log.
        package var salvages: Bool
        /// Whether `open` writes nothing and takes no lock. Damage is reported as if it salvaged, and nothing is
        /// appended.
        package var isReadOnly: Bool

        package init(
            segmentByteCount: Int, isShared: Bool, newLogID: UInt64, salvages: Bool = false, isReadOnly: Bool = false
        ) {
            self.segmentByteCount = segmentByteCount
            self.isShared = isShared
            self.newLogID = newLogID
            self.salvages = salvages
            self.isReadOnly = isReadOnly
        }
    }

    package typealias Visitor = (LogFrame) -> Void

    struct Active {
        var segment: UInt64
        var file: any LogFile
        var scanner: SegmentScanner
        /// Where the next frame goes.
        var end: Int
        /// Frames that no successful sync has written yet, in the order of their offsets. On a shared log there are
        /// none.
        var unwritten: [Group] = []
        /// Up to where the segment is known to be durable.
        var synced: Int
        /// From where frames found at opening are not proven durable. Another process may have seen its sync fail;
        /// the kernel then keeps serving pages that it has given up writing, and reports no error to whoever opens
        /// the file later.
        var unverifiedStart: Int?
        /// What a failed write may have left; nothing is appended before it is zeroed.
        var dirtyTail: DirtyTail?
        /// Whether another process created the segment, or an earlier one, and may not have made its name durable.
        var isNameUnverified = false
        /// The end of a torn tail that is kept until the log is rewritten or appended to.
        var keptTail: Int?
    }

    /// Frames that are written at once.
    struct Group {
        var offset: Int
        var bytes: [UInt8] = []
        /// Whether a sync writes it, so that nothing may be added.
        var isSealed = false

        var end: Int { offset + bytes.count }
    }

    package let storage: any LogStorage
    let options: Options
    /// Numbers of the segments that exist, ascending.
    package internal(set) var segments: [UInt64] = []
    package internal(set) var logID: UInt64 = 0
    /// Total file size, including preallocated space.
    package var fileByteCount: Int { fileByteCounts.values.reduce(0, +) }
    var fileByteCounts: [UInt64: Int] = [:]
    var active: Active?
    /// The segment into which everything was rewritten; older ones are obsolete.
    var rewritten: UInt64 = 0
    var failure: FileError?
    /// Whether `append` throws `needsSegment` instead of creating a segment, so that no call but `perform()` waits for
    /// a disk. On a log that is not shared.
    package var defersSegments = false
    /// Bytes of frames for which the next segment must have room; nothing is appended before there is one.
    var neededByteCount: Int?
    /// The size of the last group that was written, and so the capacity of the next one.
    var groupByteCount = 0

    package init(storage: any LogStorage, options: Options) {
        self.storage = storage
        self.options = options
    }

    /// The segment being written.
    package var activeSegment: UInt64 { active?.segment ?? 0 }

    /// Set after a failed sync; nothing more is written before `recover`.
    package var isClosedByFailure: Bool { failure != nil }

    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) {
        if let failure { throw .closedByFailure(failure) }
    }

    /// Runs `body` as the only appender of all processes, after `visit` has seen what they appended. On a log that is
    /// not shared it just runs `body`.
    package func exclusively<Result>(visit: Visitor, _ body: () throws(LogError) -> Result) throws(LogError) -> Result {
        guard options.isShared else { return try body() }
        try attempt { () throws(FileError) in try storage.lock() }
        defer { storage.unlock() }
        try catchUp(isLocked: true, visit: visit)
        return try body()
    }

    /// Appends the payloads in order; returns their positions. Not durable before a sync.
    ///
    /// A log that is not shared is written by the next sync, with one write for all that was appended before; if
    /// `append` throws there, nothing was appended; after `needsSegment` every call throws it until `finish(_:_:)`. On
    /// a shared log `append` writes, in one write, because other processes read it; if it throws, a prefix of the
    /// payloads may be valid, and `catchUp` visits it as if another process had written it; until then, `append`
    /// throws.
    @discardableResult
    package func append(_ payloads: [LogPayload]) throws(LogError) -> [LogPosition] {
        guard !payloads.isEmpty else { return [] }
        try checkOpen()
        let byteCount = try Self.byteCount(of: payloads)
        try scrub()
        try cutKeptTail()
        let hasRoom = active.map { $0.end + byteCount <= $0.file.byteCount } ?? false
        if !hasRoom || neededByteCount != nil {
            guard !defersSegments else {
                neededByteCount = max(neededByteCount ?? 0, byteCount)
                throw .needsSegment
            }
            try startSegment(toHold: byteCount)
        }
        guard let (segment, end, synced) = active.map({ ($0.segment, $0.end, $0.synced) }) else {
            return []
        }
        guard options.isShared else {
            gatherBytes(byteCount, at: end)
            let last = active!.unwritten.count - 1
            let positions = append(
                payloads, to: &active!.unwritten[last].bytes, segment: segment, from: end, durable: synced)
            active!.end = end + byteCount
            return positions
        }
        var buffer: [UInt8] = []
        buffer.reserveCapacity(byteCount)
        let positions = append(payloads, to: &buffer, segment: segment, from: end, durable: synced)
        try write(buffer, to: active!)
        active!.end = end + byteCount
        return positions
    }

    /// Makes the last group one to which bytes for `offset` can be added.
    private func gatherBytes(_ byteCount: Int, at offset: Int) {
        if let last = active!.unwritten.last, !last.isSealed { return }
        var group = Group(offset: offset)
        group.bytes.reserveCapacity(max(byteCount, groupByteCount))
        active!.unwritten.append(group)
    }

    /// Appends to `buffer` the frames for the positions from `start`; returns those positions.
    func append(
        _ payloads: [LogPayload], to buffer: inout [UInt8], segment: UInt64, from start: Int,
        durable: Int
    ) -> [LogPosition] {
        let former = buffer.count
        return payloads.map { payload in
            let offset = start + buffer.count - former
            FrameFormat.append(payload, to: &buffer, logID: logID, segment: segment, offset: offset, durable: durable)
            return LogPosition(segment: segment, offset: offset)
        }
    }

    static func byteCount(of payloads: [LogPayload]) throws(LogError) -> Int {
        let byteCount = payloads.reduce(0) {
            $0 + FrameFormat.byteCount(payload: $1.bytes.count)
        }
        guard byteCount <= 1 << 30 else { throw .tooLarge(byteCount: byteCount) }
        return byteCount
    }

    /// Writes frames to a shared log.
    private func write(_ buffer: [UInt8], to place: Active) throws(LogError) {
        do throws(FileError) {
            try place.file.write(buffer, at: place.end)
        } catch {
            active!.dirtyTail = DirtyTail(end: place.end + buffer.count, cause: error)
            // If this fails too, the next append begins with it.
            try? scrub()
            throw .storage(error)
        }
    }

    func attempt<Result>(_ body: () throws(FileError) -> Result) throws(LogError) -> Result {
        do throws(FileError) { return try body() } catch { throw .storage(error) }
    }
}
