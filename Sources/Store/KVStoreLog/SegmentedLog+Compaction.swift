import LocalFiles

/// What the daemon's compaction needs of its log, to which no other process appends.
extension SegmentedLog {
    /// The position of the next frame, unless it starts a segment.
    package var end: LogPosition {
        LogPosition(segment: activeSegment, offset: active?.end ?? 0)
    }

    /// Whether everything before a position is durable. Must not be called during a sync, whose failure may be the only
    /// sign of a loss.
    package func isDurable(before position: LogPosition) -> Bool {
        guard failure == nil, let active else { return false }
        return position <= LogPosition(segment: active.segment, offset: active.synced)
    }

    package func fileByteCount(of segment: UInt64) -> Int { fileByteCounts[segment, default: 0] }

    /// Visits frames of a finished segment from `start`, or from the first one, so that the owner can append the live
    /// ones again. It ends with the frame that makes the visited bytes reach `byteCount`; returns where to continue,
    /// nil after the last frame. Throws if bytes have changed since the log was opened, so that no segment is removed
    /// with frames that were not found.
    package func visitFrames(
        of segment: UInt64, from start: Int? = nil, byteCount: Int = .max, _ visit: Visitor
    ) throws(LogError) -> Int? {
        let file = try attempt { () throws(FileError) in
            try storage.open(segment: segment)
        }
        guard let file else { throw .removed(path: storage.path(segment: segment)) }
        let scanner = SegmentScanner(file: file, logID: logID, segment: segment)
        let start = start ?? SegmentHeader.byteCount
        let limit = byteCount < .max - start ? start + byteCount : .max
        let end = try attempt { () throws(FileError) in
            try scan(scanner, from: start, upTo: limit, visit: visit).end
        }
        guard end < limit else { return end }
        if let known = try knownEnd(of: segment), end < known {
            throw .damaged(damage(in: segment, from: end, to: known))
        }
        return nil
    }

    /// Removes the oldest segment, unless it is the active one. Its live frames must have been appended again, durably.
    package func removeOldest() throws(LogError) {
        guard let oldest = segments.first, oldest != active?.segment else { return }
        try attempt { () throws(FileError) in try storage.remove(segment: oldest) }
        segments.removeFirst()
        fileByteCounts[oldest] = nil
    }
}
