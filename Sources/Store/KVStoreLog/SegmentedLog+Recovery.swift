import LocalFiles

extension SegmentedLog {
    /// Opens the log, visits every valid frame from the oldest on, and cuts a torn tail, or keeps it if the owner will
    /// rewrite the log.
    ///
    /// Creates nothing: an empty directory is an empty log. On a log that is not shared the lock is held until
    /// `close`.
    package func open(visit: Visitor) throws(LogError) -> LogRecovery {
        if !options.isReadOnly {
            try attempt { () throws(FileError) in try storage.lock() }
            storage.removeLeftovers()
        }
        defer { if options.isShared { storage.unlock() } }
        var recovery = LogRecovery()
        segments = try attempt { () throws(FileError) in try storage.segments() }
        var previous: UInt64?
        for (index, number) in segments.enumerated() {
            if let previous, number != previous + 1 {
                try report(
                    LogDamage(path: storage.path(segment: previous + 1), offset: 0, detail: "the segment is missing"),
                    segment: nil, in: &recovery)
            }
            previous = number
            let next = index + 1 < segments.count ? segments[index + 1] : nil
            try open(number, next: next, visit: visit, recovery: &recovery)
        }
        return recovery
    }

    /// Syncs if `syncs`, and releases the lock.
    package func close(syncs: Bool = true) throws(LogError) {
        defer {
            active = nil
            if !options.isShared { storage.unlock() }
        }
        if syncs, failure == nil { try sync() }
    }

    /// Visits what other processes have appended since the last call.
    ///
    /// Without the lock, a frame being written is left for the next call. A visited frame stays in the log even if its
    /// write fails afterwards.
    package func catchUp(isLocked: Bool, visit: Visitor) throws(LogError) {
        while true {
            if active == nil {
                guard try openFirst() else { return }
            }
            try readOn(visit)
            let present = try attempt { () throws(FileError) in try storage.segments() }
            let current = active!.segment
            guard let next = present.first(where: { $0 > current }) else {
                guard present.contains(current) else {
                    throw .removed(path: storage.path(segment: current))
                }
                segments = present
                if isLocked { try cutTornTail() }
                return
            }
            // Everything in a segment was written before the next one was created.
            try readOn(visit)
            segments = present
            fileByteCounts = fileByteCounts.filter { present.contains($0.key) }
            try follow(to: next)
        }
    }

    /// Whether this is still the log of the storage, and nothing but zeros follows the frames that were visited.
    package var isAtEnd: Bool {
        get throws(LogError) {
            let last = try attempt { () throws(FileError) in try storage.segments().last }
            guard let active else { return last == nil }
            let present = try attempt { () throws(FileError) in
                try storage.open(segment: active.segment)
            }
            guard last == active.segment, let present,
                try header(of: present, segment: active.segment).logID == logID
            else { return false }
            active.scanner.refresh()
            return try attempt { () throws(FileError) in
                try active.scanner.endOfContent(from: active.end) == nil
            }
        }
    }

    /// Visits every frame again, up to the last known one; `catchUp` visits those after it. On a shared log it runs
    /// under the lock. Missing frames are damage.
    package func visitAll(_ visit: Visitor) throws(LogError) {
        for number in segments {
            let file = try attempt { () throws(FileError) in
                try storage.open(segment: number)
            }
            guard let file else { continue }
            let scanner = SegmentScanner(file: file, logID: logID, segment: number)
            let known = try knownEnd(of: number)
            let end = try attempt { () throws(FileError) in
                try scan(scanner, from: SegmentHeader.byteCount, upTo: known ?? .max, visit: visit).end
            }
            if let known, end < known {
                throw .damaged(damage(in: number, from: end, to: known))
            }
        }
    }

    private func readOn(_ visit: Visitor) throws(LogError) {
        active!.scanner.refresh()
        active!.end = try attempt { () throws(FileError) in
            try scan(active!.scanner, from: active!.end, visit: visit).end
        }
    }

    private func openFirst() throws(LogError) -> Bool {
        segments = try attempt { () throws(FileError) in try storage.segments() }
        guard let first = segments.first else { return false }
        try follow(to: first)
        return active != nil
    }

    /// Continues reading in another segment; does nothing if it has just been removed.
    private func follow(to number: UInt64) throws(LogError) {
        let file = try attempt { () throws(FileError) in try storage.open(segment: number) }
        guard let file else { return }
        let found = try header(of: file, segment: number).logID
        logID = found
        fileByteCounts[number] = file.byteCount
        active = Active(
            segment: number, file: file, scanner: SegmentScanner(file: file, logID: found, segment: number),
            end: SegmentHeader.byteCount, synced: SegmentHeader.byteCount, unverifiedStart: SegmentHeader.byteCount,
            isNameUnverified: true)
    }

    func damage(in segment: UInt64, from start: Int, to next: Int) -> LogDamage {
        LogDamage(
            path: storage.path(segment: segment), offset: start,
            detail: "\(next - start) invalid bytes before the next valid record")
    }

    private func open(_ number: UInt64, next: UInt64?, visit: Visitor, recovery: inout LogRecovery) throws(LogError) {
        let isLast = next == nil
        let recordedEnd = try recordedEnd(of: number, next: next)
        let file = try attempt { () throws(FileError) in try storage.open(segment: number) }
        guard let file else { return }
        fileByteCounts[number] = file.byteCount
        do throws(LogError) {
            logID = try header(of: file, segment: number).logID
        } catch .damaged(let damage) {
            try report(damage, segment: number, in: &recovery)
            return try salvage(number, file, visit: visit, recovery: &recovery)
        }
        let scanner = SegmentScanner(file: file, logID: logID, segment: number)
        var end = SegmentHeader.byteCount
        var proven = end
        var keptTail: Int?
        while true {
            let scanned = try attempt { () throws(FileError) in
                try scan(scanner, from: end) { frame in
                    proven = max(proven, frame.durable)
                    visit(frame)
                }
            }
            recovery.frameCount += scanned.count
            end = scanned.end
            if let recordedEnd, end >= recordedEnd { break }
            let content = try attempt { () throws(FileError) in
                try scanner.endOfContent(from: end)
            }
            guard let content else { break }
            if try hasGrown(scanner, at: end) { continue }
            let next = try attempt { () throws(FileError) in try scanner.nextFrame(after: end) }
            if let next {
                let gap = damage(in: number, from: end, to: next)
                if isLast, try fillUnsyncedGap(file, scanner, from: end, to: next) {
                    recovery.unsyncedGaps.append(gap)
                } else {
                    try report(gap, segment: number, in: &recovery)
                }
                end = next
            } else if isLast {
                recovery.tornTail = LogDamage(
                    path: storage.path(segment: number), offset: end,
                    detail: "\(content - end) bytes of an incomplete write")
                if options.salvages {
                    keptTail = content
                } else if !options.isReadOnly {
                    try attempt { () throws(FileError) in
                        try zero(file, from: end, to: content)
                    }
                }
                break
            } else {
                try report(
                    LogDamage(
                        path: storage.path(segment: number), offset: end,
                        detail: "\(content - end) invalid bytes at the end of a finished segment"),
                    segment: number, in: &recovery)
                break
            }
        }
        proven = isLast ? min(proven, end) : end
        active = Active(
            segment: number, file: file, scanner: scanner, end: end, synced: proven,
            unverifiedStart: proven < end ? proven : nil, isNameUnverified: isLast, keptTail: keptTail)
        if let recordedEnd { try checkEnd(end, of: number, recorded: recordedEnd, &recovery) }
    }

    /// Whether a daemon has written a frame here since a reader without the lock looked.
    private func hasGrown(_ scanner: SegmentScanner, at end: Int) throws(LogError) -> Bool {
        guard options.isReadOnly else { return false }
        return try attempt { () throws(FileError) in
            scanner.refresh()
            guard case .frame = try scanner.finding(at: end) else { return false }
            return true
        }
    }

    /// Where the frames of a segment end, if known.
    func knownEnd(of number: UInt64) throws(LogError) -> Int? {
        if let active, active.segment == number { return active.end }
        return try recordedEnd(of: number, next: segments.first { $0 > number })
    }

    /// Where the frames of a finished segment end, as its successor records. Bytes after that were cut once, by a
    /// process whose sync failed afterwards.
    private func recordedEnd(of number: UInt64, next: UInt64?) throws(LogError) -> Int? {
        guard let next, next == number + 1 else { return nil }
        let file = try attempt { () throws(FileError) in try storage.open(segment: next) }
        guard let file else { return nil }
        do throws(LogError) {
            let end = try header(of: file, segment: next).previousEnd
            return end > 0 ? end : nil
        } catch {
            // A failed read is not damage: what follows the end could be taken for it.
            if case .storage = error { throw error }
            return nil
        }
    }

    /// Lost frames at the end of a finished segment leave only zeros.
    private func checkEnd(
        _ end: Int, of segment: UInt64, recorded: Int, _ recovery: inout LogRecovery
    ) throws(LogError) {
        let path = storage.path(segment: segment)
        guard end < recorded, !recovery.damage.contains(where: { $0.path == path }) else { return }
        try report(
            LogDamage(path: path, offset: end, detail: "\(recorded - end) bytes are missing at the end"),
            segment: segment, in: &recovery)
    }

    /// After a power failure any part of the writes since the last sync may survive, so valid frames can follow invalid
    /// bytes. Such a gap becomes a void frame. Returns false, and does nothing, if a later frame proves that the gap's
    /// bytes were once durable, and on a log that salvages, which is rewritten instead.
    private func fillUnsyncedGap(
        _ file: any LogFile, _ scanner: SegmentScanner, from start: Int, to end: Int
    ) throws(LogError) -> Bool {
        guard !options.salvages else { return false }
        return try attempt { () throws(FileError) in
            var durable = 0
            var next: Int? = end
            while let place = next {
                let scanned = try scan(scanner, from: place) { durable = max(durable, $0.durable) }
                next = try scanner.nextFrame(after: scanned.end)
            }
            guard durable <= start else { return false }
            if options.isReadOnly { return true }
            let header = try scanner.voidHeader(from: start, to: end)
            try file.write(header, at: start)
            scanner.refresh()
            return true
        }
    }

    /// Visits frames up to the first position without a valid one, or at or after `limit`.
    func scan(
        _ scanner: SegmentScanner, from start: Int, upTo limit: Int = .max, visit: Visitor
    ) throws(FileError) -> (end: Int, count: Int) {
        var offset = start
        var count = 0
        while offset < limit, case .frame(let frame, let next) = try scanner.finding(at: offset) {
            if frame.kind != FrameFormat.voidKind {
                visit(frame)
                count += 1
            }
            offset = next
        }
        return (offset, count)
    }

    func header(of file: any LogFile, segment: UInt64) throws(LogError) -> SegmentHeader.Fields {
        try SegmentHeader.read(file, segment: segment, path: storage.path(segment: segment))
    }
}
