import Foundation

/// A folder of a test's own, removed with its last reference.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "kvsd-test-\(UInt64.random(in: 0...UInt64.max))")
            .path(percentEncoded: false)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
