import Dispatch
import KVStore
import KVStoreLog

/// A process's view of its replica's folder.
final class ProcessStorage: LogStorage {
    private let disk: ReplicaDisk
    private let base: any LogStorage
    private let life: Life

    init(disk: ReplicaDisk, base: any LogStorage, life: Life) {
        self.disk = disk
        self.base = base
        self.life = life
    }

    var identity: UInt64 { base.identity }

    private func call<Result>(
        _ body: () throws(StorageFailure) -> Result
    ) throws(StorageFailure) -> Result {
        try disk.call(life, body)
    }

    func segments() throws(StorageFailure) -> [UInt64] {
        try call { () throws(StorageFailure) in try base.segments() }
    }

    func open(segment: UInt64) throws(StorageFailure) -> (any LogFile)? {
        let file = try call { () throws(StorageFailure) in try base.open(segment: segment) }
        return file.map { ProcessFile(disk: disk, base: $0, life: life) }
    }

    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(StorageFailure) -> any LogFile {
        let file = try call { () throws(StorageFailure) in
            try base.create(segment: segment, content: content, byteCount: byteCount)
        }
        disk.written(by: life)
        return ProcessFile(disk: disk, base: file, life: life)
    }

    func remove(segment: UInt64) throws(StorageFailure) {
        try call { () throws(StorageFailure) in try base.remove(segment: segment) }
    }

    func syncNames() throws(StorageFailure) {
        try call { () throws(StorageFailure) in try base.syncNames() }
    }

    func quarantine(segment: UInt64) throws(StorageFailure) -> String {
        try call { () throws(StorageFailure) in try base.quarantine(segment: segment) }
    }

    func lock() throws(StorageFailure) {
        disk.appenders.wait()
        do throws(StorageFailure) {
            try call { () throws(StorageFailure) in try base.lock() }
        } catch {
            disk.appenders.signal()
            throw error
        }
    }

    func unlock() {
        disk.exclusively { base.unlock() }
        disk.appenders.signal()
    }

    func lockIfFree() throws(StorageFailure) -> Bool {
        guard disk.appenders.wait(timeout: .now()) == .success else { return false }
        do throws(StorageFailure) {
            try call { () throws(StorageFailure) in try base.lock() }
            return true
        } catch {
            disk.appenders.signal()
            throw error
        }
    }

    func path(segment: UInt64) -> String { base.path(segment: segment) }
}

private final class ProcessFile: LogFile {
    private let disk: ReplicaDisk
    private let base: any LogFile
    private let life: Life

    init(disk: ReplicaDisk, base: any LogFile, life: Life) {
        self.disk = disk
        self.base = base
        self.life = life
    }

    var byteCount: Int { base.byteCount }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        try disk.call(life) { () throws(StorageFailure) in
            try base.read(into: buffer, at: offset)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageFailure) {
        try disk.call(life) { () throws(StorageFailure) in try base.write(bytes, at: offset) }
        disk.written(by: life)
    }

    func sync() throws(StorageFailure) {
        try disk.call(life) { () throws(StorageFailure) in try base.sync() }
    }
}
