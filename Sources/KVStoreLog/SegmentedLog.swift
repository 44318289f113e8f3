/// An append-only log of checksummed frames in preallocated segments.
///
/// It serves a replica, which several processes may have open at once, and the daemon, which
/// owns its log alone. It keeps no payloads: the owner visits the frames when it opens the log and holds
/// the live state in memory. One owner calls it from one thread at a time; only `PendingSync.perform()`
/// may run beside other calls.
///
/// Invariant: frames before `end` of the active segment are whole, and everything behind is zero, or
/// `dirtyTail`, or `keptTail`, or, with several processes, what another one has written or is writing.
/// Invariant: on a shared log a frame that stood whole in the file is never taken back, because a reader
/// that holds no lock may have seen it.
/// Invariant: a segment that is not the last has been synced before the next one was created.
package final class SegmentedLog {
    package struct Options: Sendable {
        /// Bytes of a new segment; a larger group of frames gets a larger segment.
        package var segmentByteCount: Int
        /// Whether other processes may append: every write then runs inside `exclusively`.
        package var isShared: Bool
        /// Identifies a log that is made new.
        package var newLogID: UInt64
        /// Whether damage before the tail ends `open` (false) or is reported, with every
        /// whole frame still visited (true). The owner then writes the log anew, and until it has, a torn tail stays
        /// too, for whoever opens the log next.
        package var salvages: Bool

        package init(
            segmentByteCount: Int, isShared: Bool, newLogID: UInt64, salvages: Bool = false
        ) {
            self.segmentByteCount = segmentByteCount
            self.isShared = isShared
            self.newLogID = newLogID
            self.salvages = salvages
        }
    }

    package typealias Visitor = (LogFrame) -> Void

    struct Active {
        var segment: UInt64
        var file: any LogFile
        var scanner: SegmentScanner
        /// Where the next frame goes.
        var end: Int
        /// Up to where the segment is known to be on disk.
        var synced: Int
        /// From where on frames were found when the file was opened, without a proof that they are on disk. Another
        /// process may have seen its sync fail before, and the system then shows pages that it has given up to
        /// write, and tells nobody who opens the file later.
        var unverifiedStart: Int?
        /// What a write that failed may have left behind; nothing is appended before it is zero again.
        var dirtyTail: DirtyTail?
        /// Whether another process has created the segment, or an earlier one, and may not have brought its name to
        /// disk.
        var isNameUnverified = false
        /// Where a torn tail ends that is kept until the log is rewritten, or something is appended.
        var keptTail: Int?
    }

    package let storage: any LogStorage
    let options: Options
    /// Numbers of the segments that exist, ascending.
    package internal(set) var segments: [UInt64] = []
    package internal(set) var logID: UInt64 = 0
    /// Bytes of the files, preallocated space included.
    package var fileByteCount: Int { fileByteCounts.values.reduce(0, +) }
    var fileByteCounts: [UInt64: Int] = [:]
    var active: Active?
    /// The segment that everything was rewritten into; older ones count no more.
    var rewritten: UInt64 = 0
    var failure: StorageFailure?

    package init(storage: any LogStorage, options: Options) {
        self.storage = storage
        self.options = options
    }

    /// The segment that is written to.
    package var activeSegment: UInt64 { active?.segment ?? 0 }

    /// Set after a failed sync; nothing more is written.
    package var isClosedByFailure: Bool { failure != nil }

    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) {
        if let failure { throw .closedByFailure(failure) }
    }

    /// Runs `body` as the only appender of all processes, after `visit` has seen what others
    /// have appended. On a log that is not shared it only runs `body`.
    package func exclusively<Result>(
        visit: Visitor, _ body: () throws(LogError) -> Result
    ) throws(LogError) -> Result {
        guard options.isShared else { return try body() }
        try attempt { () throws(StorageFailure) in try storage.lock() }
        defer { storage.unlock() }
        try catchUp(isLocked: true, visit: visit)
        return try body()
    }

    /// Appends the payloads in order with one write; returns where each stands. Not on disk before a sync.
    ///
    /// When it throws, none of them will ever be visited on a log that is not shared, unless the process ends
    /// before its next append. On a shared log the first ones may stand whole, and `catchUp` then visits
    /// them as if another process had written them; before it has done so under the lock, `append` throws.
    @discardableResult
    package func append(_ payloads: [LogPayload]) throws(LogError) -> [LogPosition] {
        guard !payloads.isEmpty else { return [] }
        try checkOpen()
        let byteCount = try Self.byteCount(of: payloads)
        try scrub()
        try cutKeptTail()
        if active == nil || active!.end + byteCount > active!.file.byteCount {
            try startSegment(toHold: byteCount)
        }
        guard let place = active else { return [] }
        var buffer: [UInt8] = []
        buffer.reserveCapacity(byteCount)
        let positions = append(
            payloads, to: &buffer, segment: place.segment, from: place.end, durable: place.synced)
        try write(buffer, to: place)
        active!.end += buffer.count
        return positions
    }

    /// Appends to `buffer` the frames that will stand from `start` on; returns where each will.
    private func append(
        _ payloads: [LogPayload], to buffer: inout [UInt8], segment: UInt64, from start: Int,
        durable: Int
    ) -> [LogPosition] {
        let former = buffer.count
        return payloads.map { payload in
            let offset = start + buffer.count - former
            FrameFormat.append(
                payload, to: &buffer, logID: logID, segment: segment, offset: offset,
                durable: durable)
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

    private func write(_ buffer: [UInt8], to place: Active) throws(LogError) {
        do throws(StorageFailure) {
            try place.file.write(buffer, at: place.end)
        } catch {
            active!.dirtyTail = DirtyTail(end: place.end + buffer.count, cause: error)
            // Where this fails too, the next append begins with it.
            try? scrub()
            throw .storage(error)
        }
    }

    /// Ends the active segment and starts the next, with room for `byteCount` bytes of frames. It holds `payloads`
    /// from the moment it exists.
    func startSegment(toHold byteCount: Int, with payloads: [LogPayload] = []) throws(LogError) {
        try scrub()
        try sync()
        let number = (segments.last ?? 0) + 1
        if logID == 0 { logID = max(1, options.newLogID) }
        let size = max(options.segmentByteCount, SegmentHeader.byteCount + byteCount)
        var content = SegmentHeader.encode(
            logID: logID, segment: number, segmentByteCount: size, previousEnd: active?.end ?? 0)
        if !payloads.isEmpty { content.reserveCapacity(content.count + byteCount) }
        _ = append(
            payloads, to: &content, segment: number, from: content.count, durable: content.count)
        let file: any LogFile
        do throws(StorageFailure) {
            file = try storage.create(segment: number, content: content, byteCount: size)
        } catch {
            // It may be there. Other processes may have seen it then, and everybody's next look finds it.
            if !options.isShared { try? storage.remove(segment: number) }
            throw .storage(error)
        }
        segments.append(number)
        fileByteCounts[number] = size
        active = Active(
            segment: number, file: file,
            scanner: SegmentScanner(file: file, logID: logID, segment: number),
            end: content.count, synced: content.count)
    }

    func attempt<Result>(
        _ body: () throws(StorageFailure) -> Result
    ) throws(LogError) -> Result {
        do throws(StorageFailure) { return try body() } catch { throw .storage(error) }
    }
}
