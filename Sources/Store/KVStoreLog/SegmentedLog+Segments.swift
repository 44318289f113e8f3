package import LocalFiles

/// Creating segments.
extension SegmentedLog {
    /// A segment that is planned but not created, so that it can be created outside the owner's lock.
    package struct PendingSegment: Sendable {
        let storage: any LogStorage
        let number: UInt64
        let byteCount: Int
        let logID: UInt64
        /// Where the frames of the preceding segment end.
        let previousEnd: PreviousEnd
        /// From the end of the header on.
        let frames: [UInt8]
        /// Where each frame is.
        package let positions: [LogPosition]
        let keepsFailed: Bool

        /// Blocks until the segment is durable.
        package func perform() -> Result<any LogFile, FileError> {
            Result { () throws(FileError) in
                var content = SegmentHeader.encode(
                    logID: logID, segment: number, segmentByteCount: byteCount, previousEnd: try previousEnd.offset())
                if !frames.isEmpty { content += frames }
                do throws(FileError) {
                    return try storage.create(segment: number, content: content, byteCount: byteCount)
                } catch {
                    // The segment may exist. Other processes may have seen it, and `catchUp` will find it.
                    if !keepsFailed { try? storage.remove(segment: number) }
                    throw error
                }
            }
        }
    }

    enum PreviousEnd: Sendable {
        case known(Int)
        /// After the last of the frames before a position that the disk still has: their segment's sync has failed.
        case found(before: LogPosition, logID: UInt64, any LogFile)

        fileprivate func offset() throws(FileError) -> Int {
            switch self {
            case .known(let offset): return offset
            case .found(let synced, let logID, let file):
                file.discardCache()
                let scanner = SegmentScanner(file: file, logID: logID, segment: synced.segment)
                var end = SegmentHeader.byteCount
                while end < synced.offset, case .frame(_, let next) = try scanner.finding(at: end) {
                    end = next
                }
                return end
            }
        }
    }

    /// Whether `append` has thrown `needsSegment`, and `prepareSegment` was not finished since.
    package var isSegmentDue: Bool { neededByteCount != nil && failure == nil }

    /// The next segment, if one is due. Until it is finished nothing can be appended.
    ///
    /// Precondition: everything appended is durable.
    package func prepareSegment() throws(LogError) -> PendingSegment? {
        try checkOpen()
        guard let neededByteCount else { return nil }
        precondition(isDurable, "a segment must not follow one that is not durable")
        return planSegment(toHold: neededByteCount, previousEnd: .known(active?.end ?? 0))
    }

    /// Records the outcome. After a recovery the log is open again. When it throws, `append` fills the old segment
    /// again, or the log remains closed.
    package func finish(_ pending: PendingSegment, _ outcome: Result<any LogFile, FileError>) throws(LogError) {
        neededByteCount = nil
        let file = try attempt { () throws(FileError) in try outcome.get() }
        segments.append(pending.number)
        fileByteCounts[pending.number] = pending.byteCount
        let end = SegmentHeader.byteCount + pending.frames.count
        active = Active(
            segment: pending.number, file: file,
            scanner: SegmentScanner(file: file, logID: logID, segment: pending.number), end: end, synced: end)
        if case .found = pending.previousEnd { failure = nil }
    }

    /// Finishes the active segment and starts the next, with room for `byteCount` bytes of frames. It contains
    /// `payloads` from the start.
    func startSegment(toHold byteCount: Int, with payloads: [LogPayload] = []) throws(LogError) {
        try scrub()
        try sync()
        let pending = planSegment(toHold: byteCount, with: payloads, previousEnd: .known(active?.end ?? 0))
        try finish(pending, pending.perform())
    }

    /// A segment that follows the active one and starts with `payloads`, durably.
    func planSegment(
        toHold byteCount: Int, with payloads: [LogPayload] = [], previousEnd: PreviousEnd
    ) -> PendingSegment {
        let number = (segments.last ?? 0) + 1
        if logID == 0 { logID = max(1, options.newLogID) }
        let start = SegmentHeader.byteCount
        var frames: [UInt8] = []
        if !payloads.isEmpty { frames.reserveCapacity(byteCount) }
        let positions = append(payloads, to: &frames, segment: number, from: start, durable: start)
        return PendingSegment(
            storage: storage, number: number, byteCount: max(options.segmentByteCount, start + byteCount), logID: logID,
            previousEnd: previousEnd, frames: frames, positions: positions, keepsFailed: options.isShared)
    }
}
