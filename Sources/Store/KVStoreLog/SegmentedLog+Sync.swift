package import LocalFiles

extension SegmentedLog {
    /// A sync that is prepared but not performed, so that it can run outside the owner's lock.
    package struct PendingSync: Sendable {
        let file: any LogFile
        let segment: UInt64
        let end: Int
        let groups: [Group]
        let unverified: Range<Int>?
        /// Set if the names of the segments must be synced too.
        let names: (any LogStorage)?

        private func flush() throws(FileError) {
            for group in groups { try file.write(group.bytes, at: group.offset) }
            if let unverified { try writeBack(unverified) }
            try file.sync()
            if let names { try names.syncNames() }
        }

        /// Blocks until everything appended before the sync was prepared is durable; returns the failure, if any.
        package func perform() -> FileError? {
            do throws(FileError) {
                try flush()
                return nil
            } catch {
                return error
            }
        }

        /// Writes the same bytes to the same position, which marks their pages dirty again. They are valid frames,
        /// which never change.
        private func writeBack(_ range: Range<Int>) throws(FileError) {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
            defer { buffer.deallocate() }
            var place = range.lowerBound
            while place < range.upperBound {
                let count = min(buffer.count, range.upperBound - place)
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<count])
                let found = try file.read(into: part, at: place)
                guard found > 0 else { return }
                try file.write(UnsafeRawBufferPointer(rebasing: part[0..<found]), at: place)
                place += found
            }
        }
    }

    /// Whether everything appended is durable.
    package var isDurable: Bool { active.map { $0.synced >= $0.end } ?? true }

    /// What must be synced; nil when everything is durable. What another sync is writing is written again: the same
    /// bytes at the same place, so that each sync covers everything before it.
    package func prepareSync() throws(LogError) -> PendingSync? {
        try checkOpen()
        guard !isDurable, let active else { return nil }
        for index in active.unwritten.indices { self.active!.unwritten[index].isSealed = true }
        return PendingSync(
            file: active.file, segment: active.segment, end: active.end, groups: active.unwritten,
            unverified: active.unverifiedStart.map { $0..<(active.unwritten.first?.offset ?? active.end) },
            names: active.isNameUnverified ? storage : nil)
    }

    /// Records the outcome. After a failure nothing more is written: an unknown part of the group may be in the file,
    /// and the kernel may have dropped the pages that it could not write, so a successful retry proves nothing.
    ///
    /// Throws `closedByFailure` even if only a concurrent sync failed, since the kernel may report an fsync failure to
    /// only one caller.
    package func finish(_ sync: PendingSync, failure: FileError?) throws(LogError) {
        self.failure = self.failure ?? failure
        try checkOpen()
        guard active?.segment == sync.segment else { return }
        active!.synced = max(active!.synced, sync.end)
        active!.unwritten.removeAll { $0.end <= sync.end }
        groupByteCount = sync.groups.reduce(0) { $0 + $1.bytes.count }
        active!.unverifiedStart = nil
        active!.isNameUnverified = false
    }

    /// Blocks until everything appended is durable. Once it throws, nothing more is written: `closedByFailure`.
    package func sync() throws(LogError) {
        guard let pending = try prepareSync() else { return }
        try finish(pending, failure: pending.perform())
    }

    /// The segment in which the log continues after a failed sync; it starts with `payloads`, durably. Nil if no sync
    /// has failed.
    ///
    /// `payloads` replace every live frame of the segment whose sync failed. Nothing of it is needed any more, so it
    /// ends, as far as the log is concerned, with the last of its synced frames that the disk still has. On a shared
    /// log this runs inside `exclusively`, whose frames `payloads` contain.
    package func prepareRecovery(with payloads: [LogPayload]) throws(LogError) -> PendingSegment? {
        guard failure != nil, let active else { return nil }
        return planSegment(
            toHold: try Self.byteCount(of: payloads), with: payloads,
            previousEnd: .found(
                before: LogPosition(segment: active.segment, offset: active.synced), logID: logID, active.file))
    }
}
