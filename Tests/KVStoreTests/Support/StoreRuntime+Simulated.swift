import KVStoreTesting

@testable import KVStore

extension StoreRuntime {
    /// The system's, with replicas on such a storage and nobody who watches it.
    static func over(
        _ openStorage: @escaping @Sendable (_ directory: String) -> SimulatedStorage
    ) -> StoreRuntime {
        final class NoWatch: DirectoryWatch { func cancel() {} }
        var runtime = StoreRuntime.system
        runtime.openStorage = { directory throws(StorageFailure) in openStorage(directory) }
        runtime.watch = { _, _ in NoWatch() }
        return runtime
    }
}
