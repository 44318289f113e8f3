import KVStoreLog
import LocalFiles

/// One process's view of a simulated disk.
final class SimulatedStorage: LogStorage, @unchecked Sendable {
    private let disk: SimulatedDisk

    init(disk: SimulatedDisk) { self.disk = disk }

    func segments() throws(FileError) -> [UInt64] { try disk.numbers() }

    func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        disk.byteCount(segment).map {
            SimulatedFile(disk: disk, segment: segment, byteCount: $0)
        }
    }

    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(FileError) -> any LogFile {
        try disk.create(segment, content: content, byteCount: byteCount)
        return SimulatedFile(disk: disk, segment: segment, byteCount: byteCount)
    }

    func remove(segment: UInt64) throws(FileError) { try disk.remove(segment) }

    func syncNames() throws(FileError) { try disk.syncNames() }

    func quarantine(segment: UInt64) throws(FileError) -> String {
        path(segment: segment) + ".damaged-1"
    }

    func lock() throws(FileError) { try disk.lock() }
    func unlock() { disk.unlock() }
    func lockIfFree() throws(FileError) -> Bool { try disk.lockIfFree() }
    var identity: UInt64 { disk.identity }
    func path(segment: UInt64) -> String { disk.path(segment) }
}

private final class SimulatedFile: LogFile, @unchecked Sendable {
    let byteCount: Int
    private let disk: SimulatedDisk
    private let segment: UInt64
    private var knownFailureCount: Int

    init(disk: SimulatedDisk, segment: UInt64, byteCount: Int) {
        knownFailureCount = disk.failureCount(segment)
        self.disk = disk
        self.segment = segment
        self.byteCount = byteCount
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        try disk.read(segment, into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        try disk.write(bytes, to: segment, at: offset)
    }

    func sync() throws(FileError) { try disk.sync(segment, known: &knownFailureCount) }
}
