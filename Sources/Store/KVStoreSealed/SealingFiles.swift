import Essentials
import KVStoreEssentials
import LocalFiles

/// Where a device keeps what it knows of sealed values, and its clock. Tests have a directory and a clock of their own.
package struct SealingFiles: Sendable {
    /// Nil for the directory of each store.
    var directory: String?
    /// Milliseconds since 1970.
    var now: @Sendable () -> Int64

    package init(
        directory: String? = nil,
        now: @escaping @Sendable () -> Int64 = {
            Int64((Date().timeIntervalSince1970 * 1_000).rounded())
        }
    ) {
        self.directory = directory
        self.now = now
    }

    func file(_ name: String, of store: UbiquitousKeyValueStore) -> LocalFile {
        LocalFile((directory ?? store.configuration.directory) + "/" + name)
    }
}
