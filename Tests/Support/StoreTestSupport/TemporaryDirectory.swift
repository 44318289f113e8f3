// What tests of the store's layers share: temporary directories, literals, logs and disks. Not
// here: servers (ServerTestSupport) and programs (TestSupport).

import Foundation

/// A directory of a test's own, of mode 0700, removed with its last reference.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        path =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "ubiquity-test-\(UUID().uuidString)").path(percentEncoded: false)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    // What is left is in the system's temporary directory.
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Gives the body the path of one that exists as long as the body runs.
    package static func use(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        try withExtendedLifetime(directory) { try body(directory.path) }
    }

    package static func use(_ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        try await body(directory.path)
    }

    /// Names of the directory's files, sorted.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    package func file(_ name: String) -> String { path + "/" + name }

    /// A file's bytes; none where there is no such file.
    package func bytes(_ name: String) -> [UInt8] {
        Array(FileManager.default.contents(atPath: file(name)) ?? Data())
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
    }
}
