import KVStore
import KVStoreSimulation
import Synchronization

/// A replica's directory on a simulated device: its disk, and the processes that watch it for writes of others.
final class ReplicaDirectory: Sendable {
    private typealias Watcher = (id: ObjectIdentifier, life: Life, changed: StoreRuntime.Body)

    let disk: SimulatedDisk
    private let watchers = Mutex<[Watcher]>([])

    init(seed: UInt64) { disk = SimulatedDisk(seed: seed) }

    func storage(for life: Life) -> SimulatedStorage {
        let storage = disk.storage(for: life)
        storage.afterWrite.withLock {
            $0.body = { [weak self] _ in self?.notifyWatchers(exceptOf: life) }
        }
        return storage
    }

    func watch(life: Life, _ changed: @escaping StoreRuntime.Body) -> any DirectoryWatch {
        let watch = Watch(self)
        watchers.withLock { $0.append((ObjectIdentifier(watch), life, changed)) }
        return watch
    }

    private func notifyWatchers(exceptOf life: Life) {
        for watcher in watchers.withLock({ $0 }) where watcher.life !== life { watcher.changed() }
    }

    private final class Watch: DirectoryWatch {
        private let directory: ReplicaDirectory

        init(_ directory: ReplicaDirectory) { self.directory = directory }

        deinit { cancel() }

        func cancel() {
            let id = ObjectIdentifier(self)
            directory.watchers.withLock { $0.removeAll { $0.id == id } }
        }
    }
}
