import KVStoreCore
package import KVStoreLog
import LocalFiles

/// A disk in memory that keeps apart what is durable and what only the page cache holds, and fails as told.
///
/// Files hold their synced bytes and the writes since. A killed process loses nothing that was
/// written; a power failure keeps any subset of the unsynced writes, and of each any run of sectors. Segments
/// appear and disappear durably, as the contract of `LogStorage` says. Deterministic for a seed. Used by
/// one thread; a simulated process that dies in a call is marked and told with a failure.
package final class SimulatedDisk: @unchecked Sendable {
    package struct Faults: Sendable, Equatable {
        /// Bytes that the segments together may take; nil for no bound.
        package var capacity: Int?
        /// The process dies in the n-th write from now on, with a part of it done.
        package var killInWrite: Int?
        /// The n-th write from now on fails, with a part of it done; and how many do so one after the other.
        package var failWrite: Int?
        package var failedWriteCount = 1
        /// The n-th sync from now on fails, and what it should have written is lost.
        package var failSync: Int?
        /// The n-th call of any kind from now on fails with an input/output error.
        package var failCall: Int?

        package init() {}
    }

    struct Content {
        var durable: [UInt8]
        var current: [UInt8]
        var pending: [Range<Int>] = []
        /// Failed syncs so far; each open file is told of each once, as Linux does it.
        var failureCount = 0
    }

    package var faults = Faults()
    /// Set when the process that made the last call died in it; the world then drops it.
    package private(set) var wasKilled = false
    /// Faults that took effect, by name.
    package private(set) var injected: [String: Int] = [:]
    package private(set) var isLocked = false

    private var segments: [UInt64: Content] = [:]
    private var removed: [ObjectIdentifier: Content] = [:]
    private var random: SplitMix64
    private(set) var identity: UInt64

    static let sectorByteCount = 512

    package init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        identity = random.next()
    }

    /// What a process opens the disk with.
    package func storage() -> any LogStorage { SimulatedStorage(disk: self) }

    /// The process that held the lock is gone.
    package func processEnded() {
        isLocked = false
        wasKilled = false
    }

    /// Power fails: each unsynced write survives whole, in part or not at all.
    package func powerFails() {
        processEnded()
        for number in segments.keys.sorted() {
            guard var content = segments[number] else { continue }
            for range in content.pending {
                for sector in Self.sectors(of: range) where Bool.random(using: &random) {
                    content.durable.replaceSubrange(sector, with: content.current[sector])
                    count("unsynced sector lost or kept")
                }
            }
            content.current = content.durable
            content.pending = []
            segments[number] = content
        }
    }

    /// Flips a bit in a segment; returns whether there was one to flip.
    package func flipBit(inLastBytes tail: Int?) -> Bool {
        let used = segments.keys.sorted().filter { segments[$0]!.current.contains { $0 != 0 } }
        guard let number = tail == nil ? used.randomElement(using: &random) : used.last,
            var content = segments[number],
            let end = content.current.lastIndex(where: { $0 != 0 })
        else { return false }
        let start = tail.map { max(0, end + 1 - $0) } ?? 0
        let place = Int.random(in: start...end, using: &random)
        let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        content.current[place] ^= bit
        content.durable = content.current
        content.pending = []
        segments[number] = content
        count("bit flipped")
        return true
    }

    /// Everything as it stands, for a backup or a copied folder.
    package func snapshot() -> [UInt64: [UInt8]] { segments.mapValues(\.current) }

    package func restore(_ snapshot: [UInt64: [UInt8]]) {
        segments = snapshot.mapValues { Content(durable: $0, current: $0) }
        identity = random.next()
        processEnded()
    }

    // MARK: - Calls of a storage

    func numbers() throws(FileError) -> [UInt64] {
        try call("list")
        return segments.keys.sorted()
    }

    func byteCount(_ number: UInt64) -> Int? { segments[number]?.current.count }

    func create(
        _ number: UInt64, content: [UInt8], byteCount: Int
    ) throws(FileError) {
        var failure: FileError?
        do throws(FileError) {
            try call("create")
        } catch {
            // The file may be there all the same.
            guard !wasKilled, Bool.random(using: &random) else { throw error }
            failure = error
        }
        let used = segments.values.reduce(0) { $0 + $1.current.count }
        if let capacity = faults.capacity, used + byteCount > capacity {
            count("disk full")
            throw FileError(operation: "reserve space for", path: path(number), code: 28)
        }
        let bytes = content + [UInt8](repeating: 0, count: byteCount - content.count)
        segments[number] = Content(durable: bytes, current: bytes)
        if let failure { throw failure }
    }

    /// A name is on disk at once.
    func syncNames() throws(FileError) { try call("sync names") }

    func remove(_ number: UInt64) throws(FileError) {
        try call("remove")
        segments[number] = nil
    }

    func read(
        _ number: UInt64, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        try call("read")
        guard let content = segments[number], offset < content.current.count else { return 0 }
        let count = min(buffer.count, content.current.count - offset)
        content.current.withUnsafeBytes { bytes in
            buffer.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        }
        return count
    }

    func write(
        _ bytes: UnsafeRawBufferPointer, to number: UInt64, at offset: Int
    ) throws(FileError) {
        try call("write")
        var count = bytes.count
        if Self.isDue(&faults.killInWrite) {
            count = Int.random(in: 0...bytes.count, using: &random)
            wasKilled = true
            self.count("killed in a write")
        }
        let fails = Self.isDue(&faults.failWrite)
        if fails {
            faults.failedWriteCount -= 1
            if faults.failedWriteCount > 0 { faults.failWrite = 1 }
            count = Int.random(in: 0...count, using: &random)
            self.count("write failed halfway")
        }
        if count > 0, segments[number] != nil {
            segments[number]!.current.replaceSubrange(
                offset..<offset + count, with: bytes[0..<count])
            segments[number]!.pending.append(offset..<offset + count)
        }
        if wasKilled { throw killed(number) }
        if fails {
            throw FileError(operation: "write", path: path(number), code: 5)
        }
    }

    func failureCount(_ number: UInt64) -> Int { segments[number]?.failureCount ?? 0 }

    /// `known` is how many failures the file has been told of.
    func sync(_ number: UInt64, known: inout Int) throws(FileError) {
        try call("sync")
        if Self.isDue(&faults.failSync) {
            // As a kernel does it: the pages count as clean from now on, and are not written.
            segments[number]?.pending.removeAll()
            segments[number]?.failureCount += 1
            count("sync failed")
        }
        if known < failureCount(number) {
            known = failureCount(number)
            throw FileError(operation: "sync", path: path(number), code: 5)
        }
        guard var content = segments[number] else { return }
        for range in content.pending {
            content.durable.replaceSubrange(range, with: content.current[range])
        }
        content.pending = []
        segments[number] = content
    }

    func lock() throws(FileError) {
        try call("lock")
        precondition(!isLocked, "one thread runs all processes, so the lock is free between calls")
        isLocked = true
    }

    func lockIfFree() throws(FileError) -> Bool {
        if isLocked { return false }
        try lock()
        return true
    }

    func unlock() { isLocked = false }

    func path(_ number: UInt64) -> String { "/disk/\(number).log" }

    private func call(_ operation: String) throws(FileError) {
        if wasKilled { throw killed(0) }
        guard Self.isDue(&faults.failCall) else { return }
        count("call failed")
        throw FileError(operation: operation, path: "/disk", code: 5)
    }

    private func killed(_ number: UInt64) -> FileError {
        FileError(operation: "write", path: path(number), code: 4)
    }

    private func count(_ name: String) { injected[name, default: 0] += 1 }

    private static func isDue(_ countdown: inout Int?) -> Bool {
        guard let left = countdown else { return false }
        countdown = left > 1 ? left - 1 : nil
        return left <= 1
    }

    private static func sectors(of range: Range<Int>) -> [Range<Int>] {
        var sectors: [Range<Int>] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, (start / sectorByteCount + 1) * sectorByteCount)
            sectors.append(start..<end)
            start = end
        }
        return sectors
    }
}
