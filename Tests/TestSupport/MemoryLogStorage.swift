import Foundation
package import KVStoreLog
import Synchronization
package import LocalFiles

/// One process's view of a `MemoryDisk`, with faults that can be aimed at the n-th call of a kind.
package final class MemoryLogStorage: LogStorage {
    package var identity: UInt64 { disk.state.withLock { $0.identity } }

    package enum Call: Hashable, Sendable, CaseIterable {
        case segments, open, create, remove, syncNames, quarantine, lock, read, write, sync
    }

    package enum Fault: Sendable {
        /// The call does nothing and fails with this error number.
        case fail(Int32)
        /// The first bytes of a write arrive, then it fails. A segment is there, then creating it fails.
        case tear(Int)
        /// The same, and the process is gone, its lock with it.
        case kill(after: Int)
    }

    /// What can go wrong while a log is written anew.
    package static let faultsOfRewrite: [(call: Call, fault: Fault)] = [
        (.create, .fail(5)), (.create, .kill(after: 0)), (.sync, .fail(5)), (.remove, .fail(5)),
    ]

    private struct Plan: Sendable {
        var faults: [Call: [Int: Fault]] = [:]
        var always: [Call: Int32] = [:]
        var counts: [Call: Int] = [:]
        var isDead = false
        var afterTornWrite: (@Sendable () -> Void)?
        var duringSync: (@Sendable () -> Int32?)?
    }

    package let disk: MemoryDisk
    private let plan = Mutex(Plan())

    package init(_ disk: MemoryDisk) { self.disk = disk }

    /// Aims a fault at the n-th call of its kind from now on, counted from 1.
    package func aim(_ fault: Fault, at call: Call, number: Int = 1) {
        plan.withLock { plan in
            plan.faults[call, default: [:]][plan.counts[call, default: 0] + number] = fault
        }
    }

    /// Lets every call of a kind fail until `heal`.
    package func breakAll(_ call: Call, code: Int32) { plan.withLock { $0.always[call] = code } }

    package func heal() {
        plan.withLock { plan in
            plan.always = [:]
            plan.faults = [:]
        }
    }

    /// What happens between a write that fails in part and whatever its process does next.
    package func afterTornWrite(_ body: @escaping @Sendable () -> Void) {
        plan.withLock { $0.afterTornWrite = body }
    }

    /// What happens within a sync; it fails with the error number that comes of it.
    package func duringSync(_ body: @escaping @Sendable () -> Int32?) {
        plan.withLock { $0.duringSync = body }
    }

    fileprivate var duringSync: (@Sendable () -> Int32?)? { plan.withLock { $0.duringSync } }

    fileprivate var afterTornWrite: (@Sendable () -> Void)? { plan.withLock { $0.afterTornWrite } }

    package func count(of call: Call) -> Int { plan.withLock { $0.counts[call, default: 0] } }

    /// The process is gone: its lock is free and it does nothing more.
    package func kill() {
        plan.withLock { $0.isDead = true }
        unlock()
    }

    package func segments() throws(FileError) -> [UInt64] {
        try check(.segments)
        return disk.segments
    }

    package func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        try check(.open)
        return disk.state.withLock { $0.names[segment] }.map {
            MemoryLogFile(storage: self, inode: $0, segment: segment)
        }
    }

    package func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(FileError) -> any LogFile {
        let fault = try check(.create)
        let bytes = content + [UInt8](repeating: 0, count: byteCount - content.count)
        precondition(!disk.segments.contains(segment), "a segment must not be written over")
        disk.put(bytes, segment: segment)
        if let fault {
            if fault.dies { kill() }
            throw failure("create", EIO)
        }
        return MemoryLogFile(
            storage: self, inode: disk.state.withLock { $0.names[segment]! }, segment: segment)
    }

    package func remove(segment: UInt64) throws(FileError) {
        try check(.remove)
        disk.removeFile(segment)
    }

    package func syncNames() throws(FileError) { try check(.syncNames) }

    package func quarantine(segment: UInt64) throws(FileError) -> String {
        try check(.quarantine)
        let bytes = disk.bytes(of: segment)
        return disk.state.withLock { state in
            let name = path(segment: segment) + ".damaged-\(state.quarantined.count + 1)"
            state.quarantined[name] = bytes
            return name
        }
    }

    package func lock() throws(FileError) {
        try check(.lock)
        guard try lockIfFree() else { throw failure("lock", EDEADLK) }
    }

    package func lockIfFree() throws(FileError) -> Bool {
        disk.state.withLock { state in
            guard state.lockOwner == nil else { return false }
            state.lockOwner = ObjectIdentifier(self)
            return true
        }
    }

    package func unlock() {
        disk.state.withLock { state in
            if state.lockOwner == ObjectIdentifier(self) { state.lockOwner = nil }
        }
    }

    package func path(segment: UInt64) -> String { "/memory/\(segment).log" }

    fileprivate func failure(_ operation: String, _ code: Int32) -> FileError {
        FileError(operation: operation, path: "/memory", code: code)
    }

    /// Counts a call; throws, or says how many bytes of a write still arrive.
    @discardableResult
    fileprivate func check(_ call: Call) throws(FileError) -> (kept: Int, dies: Bool)? {
        let (fault, isDead) = plan.withLock { plan in
            let number = plan.counts[call, default: 0] + 1
            plan.counts[call] = number
            let fault = plan.always[call].map { Fault.fail($0) } ?? plan.faults[call]?[number]
            return (fault, plan.isDead)
        }
        if isDead { throw failure("\(call) of a killed process", ESRCH) }
        switch fault {
        case nil: return nil
        case .fail(let code): throw failure("\(call)", code)
        case .tear(let count): return (count, false)
        case .kill(let count): return (count, true)
        }
    }
}

private final class MemoryLogFile: LogFile {
    let byteCount: Int
    private let storage: MemoryLogStorage
    private let inode: Int
    private let segment: UInt64

    init(storage: MemoryLogStorage, inode: Int, segment: UInt64) {
        self.storage = storage
        self.inode = inode
        self.segment = segment
        byteCount = storage.disk.state.withLock { $0.inodes[inode].content.count }
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        try storage.check(.read)
        let bytes = storage.disk.state.withLock { state in
            Array(state.inodes[inode].content.dropFirst(offset).prefix(buffer.count))
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        precondition(offset + bytes.count <= byteCount, "segments do not grow")
        let fault = try storage.check(.write)
        let kept = Array(bytes.prefix(fault?.kept ?? bytes.count))
        storage.disk.state.withLock { state in
            state.inodes[inode].content.replaceSubrange(offset..<offset + kept.count, with: kept)
            state.inodes[inode].pending.append((offset, kept))
        }
        guard let fault else { return }
        if fault.dies { storage.kill() }
        storage.afterTornWrite?()
        throw storage.failure("write", EIO)
    }

    func sync() throws(FileError) {
        try storage.check(.sync)
        if let code = storage.duringSync?() { throw storage.failure("sync", code) }
        storage.disk.state.withLock { state in
            state.inodes[inode].synced = state.inodes[inode].content
            state.inodes[inode].pending = []
        }
    }
}
