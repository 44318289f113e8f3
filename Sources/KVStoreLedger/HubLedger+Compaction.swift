/// How far compaction has come. A restart begins with the oldest segment again: what was moved before counts at its new
/// place, so it is not moved twice.
struct CompactionProgress {
    /// A segment of which nothing counts any more.
    struct Emptied {
        var segment: UInt64
        /// Where the log ended when the last of it was looked at. What stands before makes it dispensable: the frames
        /// that were moved out of it, and those because of which the others do not count.
        var end: LogPosition
    }

    /// Oldest first; they go as soon as that is on disk.
    var emptied: [Emptied] = []
    /// What to look at next, in a segment of which a part has been looked at.
    var place: LogPosition?
}

/// Compaction: what counts in the oldest segments is moved to the end of the log, a bounded part at a time, and a
/// segment of which nothing counts is removed.
extension HubLedger {
    /// Whether a step would remove a segment, or the log has grown to more than twice of what counts in it.
    ///
    /// Steps end this in any case. The segments that wait for a sync do not count as a part of the log.
    package var isCompactionDue: Bool {
        if isRemovalDue { return true }
        let waiting = compaction.emptied.reduce(0) { $0 + log.fileByteCount(of: $1.segment) }
        return log.segments.count - compaction.emptied.count > 2
            && log.fileByteCount - waiting > 2 * liveFrameByteCount + 2 * options.segmentByteCount
    }

    /// Removes a segment of which nothing counts any more, or moves what counts in the next bytes of the oldest segment
    /// to the end of the log.
    ///
    /// It syncs nothing that was appended: a segment goes in a step after the sync that covers what was moved out of
    /// it. Not to be called between the preparation of a sync and its `finish`. When it throws, everything still
    /// stands somewhere, and the next step tries the same again.
    package func compactStep() throws(LogError) {
        guard !isRemovalDue else {
            try log.removeOldest()
            compaction.emptied.removeFirst()
            return
        }
        guard let segment = log.segments.dropFirst(compaction.emptied.count).first,
            segment != log.activeSegment
        else { return }
        let start = compaction.place?.segment == segment ? compaction.place?.offset : nil
        var moved: [(subject: HubEntry.Subject, payload: LogPayload)] = []
        let next = try log.visitFrames(
            of: segment, from: start, byteCount: options.compactionByteCount
        ) { frame in
            guard let subject = HubEntry.subject(of: frame),
                let payload = payload(of: frame, about: subject)
            else { return }
            moved.append((subject, payload))
        }
        let positions = try log.append(moved.map(\.payload))
        for ((subject, _), place) in zip(moved, positions) {
            switch subject {
            case .record(let id, let key): stores[id]!.places[key] = place
            case .store(let id): stores[id]!.statePlace = place
            case .forgotten: break
            }
        }
        compaction.place = next.map { LogPosition(segment: segment, offset: $0) }
        if next == nil {
            compaction.emptied.append(
                CompactionProgress.Emptied(segment: segment, end: log.end))
        }
    }

    /// Whether the next step removes a segment and does nothing else.
    package var isRemovalDue: Bool {
        compaction.emptied.first.map { log.isDurable(before: $0.end) } ?? false
    }

    /// What to append in place of a frame; nil for one that does not count.
    private func payload(of frame: LogFrame, about subject: HubEntry.Subject) -> LogPayload? {
        switch subject {
        case .record(let id, let key):
            guard stores[id]?.places[key] == frame.position else { return nil }
            // As it stands: the value is neither decoded nor encoded again.
            return LogPayload(kind: frame.kind, bytes: Array(frame.payload))
        case .store(let id):
            guard let store = stores[id], store.statePlace == frame.position else { return nil }
            return HubEntry.store(id, HubEntry.State(store.hub)).payload
        case .forgotten: return nil
        }
    }
}
