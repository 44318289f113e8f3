/// What the daemon's compaction needs of its log, which no other process appends to.
extension SegmentedLog {
    /// Where the next frame goes, unless it starts a segment.
    package var end: LogPosition {
        LogPosition(segment: activeSegment, offset: active?.end ?? 0)
    }

    /// Whether everything before `place` is on disk. Not to be asked while a sync is under way: its failure may be the
    /// only word of what was lost.
    package func isDurable(before place: LogPosition) -> Bool {
        guard failure == nil, let active else { return false }
        return place <= LogPosition(segment: active.segment, offset: active.synced)
    }

    package func fileByteCount(of segment: UInt64) -> Int { fileByteCounts[segment, default: 0] }

    /// Visits frames of a finished segment from `start` on, or from the first one, so that the owner can append again
    /// what still counts. It ends with the frame that makes the bytes looked at reach `byteCount`; returns where to go
    /// on, nil after the last frame. Bytes that have changed on the disk since the log was opened are an error, so that
    /// a segment does not go with frames that were not found.
    package func visitFrames(
        of segment: UInt64, from start: Int? = nil, byteCount: Int = .max, _ visit: Visitor
    ) throws(LogError) -> Int? {
        let file = try attempt { () throws(StorageFailure) in
            try storage.open(segment: segment)
        }
        guard let file else { throw .removed(path: storage.path(segment: segment)) }
        let scanner = SegmentScanner(file: file, logID: logID, segment: segment)
        let start = start ?? SegmentHeader.byteCount
        let limit = byteCount < .max - start ? start + byteCount : .max
        let end = try attempt { () throws(StorageFailure) in
            try scan(scanner, from: start, upTo: limit, visit: visit).end
        }
        guard end < limit else { return end }
        if let known = try knownEnd(of: segment), end < known {
            throw .damaged(damage(in: segment, from: end, to: known))
        }
        return nil
    }

    /// Removes the oldest segment, which is not the active one. What counts in it must have been appended again and
    /// be on disk.
    package func removeOldest() throws(LogError) {
        guard let oldest = segments.first, oldest != active?.segment else { return }
        try attempt { () throws(StorageFailure) in try storage.remove(segment: oldest) }
        segments.removeFirst()
        fileByteCounts[oldest] = nil
    }
}
