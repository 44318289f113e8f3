import Dispatch
import Foundation
import KVStore
import KVStoreLog
import Synchronization
import LocalFiles

/// One replica's folder on a simulated disk, for any number of simulated processes and any thread.
final class ReplicaDisk: Sendable {
    private struct Watcher {
        var id: UInt64
        var life: Life
        var changed: StoreRuntime.Body
    }

    let disk: SimulatedDisk
    /// Around every call, for the disk itself is for one thread.
    private let gate = NSLock()
    /// The lock between processes.
    let appenders = DispatchSemaphore(value: 1)
    private let watchers = Mutex<[Watcher]>([])

    init(seed: UInt64) { disk = SimulatedDisk(seed: seed) }

    func storage(for life: Life) -> any LogStorage {
        ProcessStorage(disk: self, base: disk.storage(), life: life)
    }

    func watch(
        id: UInt64, life: Life, _ changed: @escaping StoreRuntime.Body
    ) -> any DirectoryWatch {
        watchers.withLock { $0.append(Watcher(id: id, life: life, changed: changed)) }
        return Watch(disk: self, id: id)
    }

    /// Makes one call of a process; a killed one makes none.
    func call<Result>(
        _ life: Life, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        guard !life.isOver else {
            throw FileError(operation: "use", path: "the simulated disk", code: 4)
        }
        return try exclusively(body)
    }

    func exclusively<Result, Failure>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        gate.lock()
        defer { gate.unlock() }
        return try body()
    }

    /// Tells the other processes that this one has written.
    func written(by life: Life) {
        for watcher in watchers.withLock({ $0 }) where watcher.life !== life { watcher.changed() }
    }

    private final class Watch: DirectoryWatch {
        private let disk: ReplicaDisk
        private let id: UInt64

        init(disk: ReplicaDisk, id: UInt64) {
            self.disk = disk
            self.id = id
        }

        func cancel() { disk.watchers.withLock { $0.removeAll { $0.id == id } } }
    }
}
