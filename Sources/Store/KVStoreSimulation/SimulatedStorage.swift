import Essentials
package import KVStoreLog
package import LocalFiles
package import Synchronization
import KVStoreCore

/// One process's view of a simulated disk. The calls of a killed process fail and have no effect.
package final class SimulatedStorage: LogStorage, @unchecked Sendable {
    package let disk: SimulatedDisk
    /// Runs at the start of every sync, which fails with the error number that it returns. It may block.
    package let duringSync = Mutex<(@Sendable () -> Int32?)?>(nil)
    /// Runs at the start of every creation of a segment. It may block.
    package let duringCreation = Mutex<(@Sendable () -> Void)?>(nil)
    /// Runs at the end of every write and creation, torn ones included. It may use the disk.
    package let afterWrite = Mutex(AfterWrite())

    /// In a structure, because Swift wraps a closure in a mutex once more at each access.
    package struct AfterWrite: Sendable {
        package var body: (@Sendable (_ isTorn: Bool) -> Void)?
    }

    private let life: Life
    // Used under the disk's lock.
    private var plan = FaultPlan()
    private var counts: [FaultPlan.Call: Int] = [:]

    init(disk: SimulatedDisk, life: Life) {
        self.disk = disk
        self.life = life
    }

    deinit { unlock() }

    package var isKilled: Bool { life.isOver }

    /// Ends the process, which frees its lock.
    package func kill() {
        life.end()
        disk.locked { disk.condition.broadcast() }
    }

    /// As `FaultPlan.aim`, for the calls of this process only.
    package func aim(_ fault: FaultPlan.Fault, at call: FaultPlan.Call? = nil, number: Int = 1, times: Int = 1) {
        disk.locked { plan.aim(fault, at: call, number: number, times: times) }
    }

    /// Removes all faults of this process.
    package func heal() { disk.locked { plan = FaultPlan() } }

    /// How many calls of a kind the process has made.
    package func count(of call: FaultPlan.Call) -> Int { disk.locked { counts[call] ?? 0 } }

    // MARK: - LogStorage

    package var identity: UInt64 { disk.identity }

    package func path(segment: UInt64) -> String { "/disk/\(segment).log" }

    package func segments() throws(FileError) -> [UInt64] {
        try perform(.segments) { _ in disk.segments.keys.sorted() }
    }

    package func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        try perform(.open, segment) { _ in
            disk.segments[segment].map { SimulatedFile(self, segment, $0) }
        }
    }

    package func create(segment: UInt64, content: [UInt8], byteCount: Int) throws(FileError) -> any LogFile {
        duringCreation.withLock { $0 }?()
        return try perform(.create, segment) { _ throws(FileError) in
            let used = disk.segments.values.reduce(0) { $0 + $1.current.count }
            if let capacity = disk.plan.capacity, used + byteCount > capacity {
                disk.count("disk full")
                throw failure("reserve space for", segment, ENOSPC)
            }
            precondition(disk.segments[segment] == nil, "a segment must not be overwritten")
            let padding = [UInt8](repeating: 0, count: byteCount - content.count)
            let inode = SimulatedDisk.Inode(content + padding)
            disk.segments[segment] = inode
            return SimulatedFile(self, segment, inode)
        }
    }

    package func remove(segment: UInt64) throws(FileError) {
        try perform(.remove, segment) { _ in disk.segments[segment] = nil }
    }

    package func syncNames() throws(FileError) { try perform(.syncNames) { _ in } }

    package func quarantine(segment: UInt64) throws(FileError) -> String {
        try perform(.quarantine, segment) { _ in
            let copy = "\(path(segment: segment)).damaged-\(disk.copies.count + 1)"
            disk.copies[copy] = disk.segments[segment]?.current
            return copy
        }
    }

    /// Precondition: no other process has the lock on the same thread, which would wait for itself.
    package func lock() throws(FileError) { _ = try lock(isWaiting: true) }

    package func lockIfFree() throws(FileError) -> Bool { try lock(isWaiting: false) }

    package func unlock() {
        disk.locked {
            guard disk.owner?.storage == ObjectIdentifier(self) else { return }
            disk.owner = nil
            disk.condition.broadcast()
        }
    }

    private func lock(isWaiting: Bool) throws(FileError) -> Bool {
        try perform(.lock) { _ throws(FileError) in
            while let owner = disk.owner, !owner.life.isOver {
                guard isWaiting else { return false }
                precondition(owner.thread != ThreadNumber.current, "a deadlock")
                disk.condition.wait()
                if life.isOver { throw failure("lock", nil, ESRCH) }
            }
            disk.owner = (ObjectIdentifier(self), life, ThreadNumber.current)
            return true
        }
    }

    /// Makes a call under the disk's lock. `body` has its effect, or the part that the faults that strike it leave.
    fileprivate func perform<Result>(
        _ call: FaultPlan.Call, _ segment: UInt64? = nil, _ body: ([FaultPlan.Fault]) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let (result, error) = try disk.locked { () throws(FileError) -> (Result, FileError?) in
            if life.isOver { throw failure(call.rawValue, segment, ESRCH) }
            counts[call, default: 0] += 1
            let struck = disk.plan.strike(call) + plan.strike(call)
            guard let code = struck.map(inject).first else { return (try body(struck), nil) }
            let error = failure(call.rawValue, segment, code)
            var hasEffect = call == .create || call == .write || call == .sync
            if case .fail = struck[0] {
                hasEffect = call == .create && !error.isOutOfSpace && Bool.random(using: &disk.random)
            }
            guard hasEffect else { throw error }
            return (try body(struck), error)
        }
        if call == .create || call == .write { afterWrite.withLock { $0.body }?(error != nil) }
        if let error { throw error }
        return result
    }

    /// Takes note of a fault, or kills the process; returns the error number with which the call fails.
    private func inject(_ fault: FaultPlan.Fault) -> Int32 {
        let (name, code): (String, Int32) =
            switch fault {
            case .fail(let code): ("call failed", code)
            case .tear: ("write failed halfway", EIO)
            case .losePages: ("sync failed", EIO)
            case .kill: ("killed in a write", ESRCH)
            }
        disk.count(name)
        if case .kill = fault {
            life.end()
            disk.condition.broadcast()
        }
        return code
    }

    fileprivate func failure(_ operation: String, _ segment: UInt64?, _ code: Int32) -> FileError {
        FileError(operation: operation, path: segment.map(path) ?? "/disk", code: code)
    }
}

private final class SimulatedFile: LogFile, @unchecked Sendable {
    let byteCount: Int
    private let storage: SimulatedStorage
    private let segment: UInt64
    private let inode: SimulatedDisk.Inode
    /// Failed syncs that the file has reported.
    private var reportedCount: Int

    init(_ storage: SimulatedStorage, _ segment: UInt64, _ inode: SimulatedDisk.Inode) {
        self.storage = storage
        self.segment = segment
        self.inode = inode
        byteCount = inode.current.count
        reportedCount = inode.failureCount
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        try storage.perform(.read, segment) { _ in
            inode.current.withUnsafeBytes { bytes in
                let part = bytes.dropFirst(offset).prefix(buffer.count)
                buffer.copyBytes(from: part)
                return part.count
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        precondition(offset + bytes.count <= byteCount, "segments do not grow")
        try storage.perform(.write, segment) { struck in
            var count = bytes.count
            for fault in struck {
                switch fault {
                case .fail, .losePages: count = 0
                case .tear(let kept), .kill(after: let kept):
                    count = min(kept ?? .random(in: 0...count, using: &storage.disk.random), count)
                }
            }
            guard count > 0 else { return }
            inode.current.replaceSubrange(offset..<offset + count, with: bytes.prefix(count))
            inode.unsynced.append(offset..<offset + count)
        }
    }

    func sync() throws(FileError) {
        let code = storage.duringSync.withLock { $0 }?()
        try storage.perform(.sync, segment) { struck throws(FileError) in
            if let code { throw storage.failure("sync", segment, code) }
            if struck.contains(.losePages) {
                inode.unsynced = []
                inode.failureCount += 1
            }
            guard reportedCount == inode.failureCount else {
                reportedCount = inode.failureCount
                throw storage.failure("sync", segment, EIO)
            }
            guard struck.isEmpty else { return }
            for range in inode.unsynced {
                inode.durable.replaceSubrange(range, with: inode.current[range])
            }
            inode.unsynced = []
        }
    }
}
