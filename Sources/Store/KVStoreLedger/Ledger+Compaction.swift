import KVStoreCore
package import KVStoreLog

/// How far compaction has come. After a restart it begins with the oldest segment again; frames that were moved before
/// are live at their new position, so they are not moved twice.
struct CompactionProgress {
    /// A segment without live frames.
    struct Emptied {
        var segment: UInt64
        /// Where the log ended when its last frame was examined. Frames before that replace those of the segment.
        var end: LogPosition
    }

    /// Oldest first; a segment is removed as soon as the log is durable up to its `end`.
    var emptied: [Emptied] = []
    /// Where to continue in a partly examined segment.
    var position: LogPosition?
}

/// The number of live frames of each segment.
struct LiveFrames {
    private var counts: [UInt64: Int] = [:]

    func isEmpty(_ segment: UInt64) -> Bool { counts[segment] == nil }

    /// A frame takes the place of another: nil for none.
    mutating func move(from former: LogPosition?, to position: LogPosition?) {
        if let position { counts[position.segment, default: 0] += 1 }
        if let former {
            let rest = counts[former.segment, default: 1] - 1
            counts[former.segment] = rest > 0 ? rest : nil
        }
    }
}

/// Compaction: live frames of the oldest segments are moved to the end of the log, a bounded number of bytes at a time,
/// and segments without live frames are removed, unread if they have none when their turn comes.
extension Ledger {
    /// Whether a step would remove a segment, or the log exceeds twice the size of its live frames. Segments that
    /// wait for a sync do not count.
    package var isCompactionDue: Bool {
        if isRemovalDue { return true }
        let waiting = compaction.emptied.reduce(0) { $0 + log.fileByteCount(of: $1.segment) }
        return log.segments.count - compaction.emptied.count > 2
            && log.fileByteCount - waiting > 2 * liveFrameByteCount + 2 * options.segmentByteCount
    }

    /// Removes a segment without live frames, or moves the live frames in the next bytes of the oldest segment to the
    /// end of the log.
    ///
    /// It syncs nothing: a segment is removed in a step after the sync that covers what was moved out of it. Must not
    /// be called between `prepareSync` and `finish`. When it throws, no frame is lost, and the next step tries
    /// again.
    package func compactStep() throws(LogError) {
        guard !isRemovalDue else {
            try log.removeOldest()
            compaction.emptied.removeFirst()
            return
        }
        guard let segment = log.segments.dropFirst(compaction.emptied.count).first,
            segment != log.activeSegment
        else { return }
        guard !liveFrames.isEmpty(segment) else {
            compaction.position = nil
            return compaction.emptied.append(CompactionProgress.Emptied(segment: segment, end: log.end))
        }
        let start = compaction.position?.segment == segment ? compaction.position?.offset : nil
        var moved: [(subject: LedgerEntry.Subject, payload: LogPayload)] = []
        let next = try log.visitFrames(
            of: segment, from: start, byteCount: options.compactionByteCount
        ) { frame in
            guard let subject = LedgerEntry.subject(of: frame),
                let payload = payload(of: frame, about: subject)
            else { return }
            moved.append((subject, payload))
        }
        let positions = try log.append(moved.map(\.payload))
        for ((subject, _), position) in zip(moved, positions) {
            switch subject {
            case .record(let id, let key): place(key, of: stores[id]!, at: position)
            case .state(let id): placeState(of: stores[id]!, at: position)
            case .forgotten: break
            }
        }
        compaction.position = next.map { LogPosition(segment: segment, offset: $0) }
        if next == nil {
            compaction.emptied.append(CompactionProgress.Emptied(segment: segment, end: log.end))
        }
    }

    /// Whether the next step removes a segment and does nothing else.
    package var isRemovalDue: Bool {
        compaction.emptied.first.map { log.isDurable(before: $0.end) } ?? false
    }

    /// What to append in place of a frame; nil for one that is not live.
    private func payload(of frame: LogFrame, about subject: LedgerEntry.Subject) -> LogPayload? {
        switch subject {
        case .record(let id, let key):
            guard stores[id]?.positions[key] == frame.position else { return nil }
            // The bytes as they are: the value is neither decoded nor encoded.
            return LogPayload(kind: frame.kind, bytes: Array(frame.payload))
        case .state(let id):
            guard let store = stores[id], store.statePosition == frame.position else { return nil }
            return store.stateEntry.payload
        case .forgotten: return nil
        }
    }
}
