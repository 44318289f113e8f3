import Essentials

/// A unique path in the system's temporary directory, removed with the last reference.
package final class TemporaryStorage: Sendable {
    let path = FileManager.default.temporaryDirectory
        .appending(path: "kvstore-server-\(UUID().uuidString)").path(percentEncoded: false)

    deinit { try? FileManager.default.removeItem(atPath: path) }  // only space is lost, until the system cleans up
}
