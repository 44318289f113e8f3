import LocalFiles

extension SegmentedLog {
    /// What a failed write may have left after the end of the frames.
    struct DirtyTail {
        /// The offset after the write.
        var end: Int
        /// Why the write failed.
        var cause: FileError
    }

    /// Zeroes what a failed write left in a shared log: later frames could end exactly where a valid one of it starts.
    /// If it throws, that remains to be done.
    ///
    /// It runs under the lock under which the write failed. Valid frames at the front stay, and it throws: they must be
    /// read before anything is appended.
    func scrub() throws(LogError) {
        guard let place = active, let dirtyTail = place.dirtyTail else { return }
        var start = place.end
        try attempt { () throws(FileError) in
            place.scanner.refresh()
            start = try scan(place.scanner, from: place.end, visit: { _ in }).end
            if start < dirtyTail.end { try zero(place.file, from: start, to: dirtyTail.end) }
            place.scanner.refresh()
        }
        guard start == place.end else { throw .storage(dirtyTail.cause) }
        active!.dirtyTail = nil
    }

    /// Zeroes invalid bytes after the frames: a partial write of a killed process, or of one that failed. Runs under
    /// the lock after all frames have been read, since other processes may have written.
    func cutTornTail() throws(LogError) {
        let place = active!
        guard place.keptTail == nil else { return }
        let next = try attempt { () throws(FileError) -> Int? in
            if place.dirtyTail == nil {
                guard case .invalid = try place.scanner.finding(at: place.end) else { return nil }
            }
            guard let end = try place.scanner.endOfContent(from: place.end) else { return nil }
            if let next = try place.scanner.nextFrame(after: place.end) { return next }
            try zero(place.file, from: place.end, to: end)
            place.scanner.refresh()
            return nil
        }
        if let next { throw .damaged(damage(in: place.segment, from: place.end, to: next)) }
        active!.dirtyTail = nil
    }

    func cutKeptTail() throws(LogError) {
        guard let place = active, let end = place.keptTail else { return }
        try attempt { () throws(FileError) in
            if place.end < end { try zero(place.file, from: place.end, to: end) }
        }
        place.scanner.refresh()
        active!.keptTail = nil
    }

    /// Zeroes the bytes at `start` last. They show other processes that there is something to cut, so they must survive
    /// if zeroing is interrupted.
    func zero(_ file: any LogFile, from start: Int, to end: Int) throws(FileError) {
        let end = min(end, file.byteCount)
        let rest = min(start + FrameFormat.alignment, end)
        if rest < end { try file.write([UInt8](repeating: 0, count: end - rest), at: rest) }
        try file.write([UInt8](repeating: 0, count: rest - start), at: start)
    }
}
