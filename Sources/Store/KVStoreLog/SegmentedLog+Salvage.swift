import LocalFiles

extension SegmentedLog {
    /// Makes `open` throw, or records the damage and quarantines the file.
    func report(_ damage: LogDamage, segment: UInt64?, in recovery: inout LogRecovery) throws(LogError) {
        guard options.salvages || options.isReadOnly else { throw .damaged(damage) }
        recovery.damage.append(damage)
        guard !options.isReadOnly, let segment, !recovery.damage.dropLast().contains(where: { $0.path == damage.path })
        else { return }
        recovery.quarantined.append(try attempt { () throws(FileError) in try storage.quarantine(segment: segment) })
    }

    /// Visits the valid frames of a segment whose header is damaged. Their checksums need the log id: the header holds
    /// it twice, and every other segment holds it too.
    func salvage(_ number: UInt64, _ file: any LogFile, visit: Visitor, recovery: inout LogRecovery) throws(LogError) {
        for candidate in try possibleLogIDs(of: file) {
            let scanner = SegmentScanner(file: file, logID: candidate, segment: number)
            var end = SegmentHeader.byteCount
            var count = 0
            try attempt { () throws(FileError) in
                var next: Int? = end
                while let place = next {
                    let scanned = try scan(scanner, from: place, visit: visit)
                    count += scanned.count
                    end = scanned.end
                    next = try scanner.nextFrame(after: end)
                }
            }
            guard count > 0 else { continue }
            recovery.frameCount += count
            logID = candidate
            active = Active(segment: number, file: file, scanner: scanner, end: end, synced: SegmentHeader.byteCount)
            return
        }
        active = Active(
            segment: number, file: file, scanner: SegmentScanner(file: file, logID: logID, segment: number),
            end: file.byteCount, synced: file.byteCount)
    }

    private func possibleLogIDs(of file: any LogFile) throws(LogError) -> [UInt64] {
        let header = UnsafeMutableRawBufferPointer.allocate(byteCount: SegmentHeader.byteCount, alignment: 8)
        defer { header.deallocate() }
        header.initializeMemory(as: UInt8.self, repeating: 0)
        _ = try attempt { () throws(FileError) in try file.read(into: header, at: 0) }
        var found = SegmentHeader.possibleLogIDs(in: UnsafeRawBufferPointer(header))
        for other in segments {
            let file = try attempt { () throws(FileError) in try storage.open(segment: other) }
            // A segment without a header has no id.
            if let file, let id = try? self.header(of: file, segment: other).logID, !found.contains(id) {
                found.append(id)
            }
        }
        return found
    }
}
