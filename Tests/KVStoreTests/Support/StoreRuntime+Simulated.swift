import KVStoreLog
import KVStoreSimulation
import StoreTestSupport

@testable import KVStoreEssentials
import LocalFiles

extension StoreRuntime {
    /// The system's, with replicas on this storage and without a watch.
    static func over(_ openStorage: @escaping @Sendable (_ directory: String) -> SimulatedStorage) -> StoreRuntime {
        final class NoWatch: DirectoryWatch { func cancel() {} }
        var runtime = StoreRuntime.system
        runtime.openStorage = { directory throws(FileError) in openStorage(directory) }
        runtime.watch = { _, _ in NoWatch() }
        return runtime
    }
}
