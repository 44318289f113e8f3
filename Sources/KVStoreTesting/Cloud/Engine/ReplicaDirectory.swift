import KVStore
import Synchronization

/// A replica's directory on a simulated device: its disk, and the processes that watch it for writes of others.
final class ReplicaDirectory: Sendable {
    private struct Watcher {
        var id: UInt64
        var life: Life
        var changed: StoreRuntime.Body
    }

    let disk: SimulatedDisk
    private let watchers = Mutex<[Watcher]>([])

    init(seed: UInt64) { disk = SimulatedDisk(seed: seed) }

    func storage(for life: Life) -> SimulatedStorage {
        let storage = disk.storage(for: life)
        storage.afterWrite.withLock {
            $0 = { [weak self] _ in self?.notifyWatchers(exceptOf: life) }
        }
        return storage
    }

    func watch(
        id: UInt64, life: Life, _ changed: @escaping StoreRuntime.Body
    ) -> any DirectoryWatch {
        watchers.withLock { $0.append(Watcher(id: id, life: life, changed: changed)) }
        return Watch(directory: self, id: id)
    }

    private func notifyWatchers(exceptOf life: Life) {
        for watcher in watchers.withLock({ $0 }) where watcher.life !== life { watcher.changed() }
    }

    private final class Watch: DirectoryWatch {
        private let directory: ReplicaDirectory
        private let id: UInt64

        init(directory: ReplicaDirectory, id: UInt64) {
            self.directory = directory
            self.id = id
        }

        func cancel() { directory.watchers.withLock { $0.removeAll { $0.id == id } } }
    }
}
