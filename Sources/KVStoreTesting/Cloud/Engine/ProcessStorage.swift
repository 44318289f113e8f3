import Dispatch
import KVStore
import KVStoreLog
import LocalFiles

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
        _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        try disk.call(life, body)
    }

    func segments() throws(FileError) -> [UInt64] {
        try call { () throws(FileError) in try base.segments() }
    }

    func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        let file = try call { () throws(FileError) in try base.open(segment: segment) }
        return file.map { ProcessFile(disk: disk, base: $0, life: life) }
    }

    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(FileError) -> any LogFile {
        let file = try call { () throws(FileError) in
            try base.create(segment: segment, content: content, byteCount: byteCount)
        }
        disk.written(by: life)
        return ProcessFile(disk: disk, base: file, life: life)
    }

    func remove(segment: UInt64) throws(FileError) {
        try call { () throws(FileError) in try base.remove(segment: segment) }
    }

    func syncNames() throws(FileError) {
        try call { () throws(FileError) in try base.syncNames() }
    }

    func quarantine(segment: UInt64) throws(FileError) -> String {
        try call { () throws(FileError) in try base.quarantine(segment: segment) }
    }

    func lock() throws(FileError) {
        disk.appenders.wait()
        do throws(FileError) {
            try call { () throws(FileError) in try base.lock() }
        } catch {
            disk.appenders.signal()
            throw error
        }
    }

    func unlock() {
        disk.exclusively { base.unlock() }
        disk.appenders.signal()
    }

    func lockIfFree() throws(FileError) -> Bool {
        guard disk.appenders.wait(timeout: .now()) == .success else { return false }
        do throws(FileError) {
            try call { () throws(FileError) in try base.lock() }
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
    ) throws(FileError) -> Int {
        try disk.call(life) { () throws(FileError) in
            try base.read(into: buffer, at: offset)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        try disk.call(life) { () throws(FileError) in try base.write(bytes, at: offset) }
        disk.written(by: life)
    }

    func sync() throws(FileError) {
        try disk.call(life) { () throws(FileError) in try base.sync() }
    }
}
