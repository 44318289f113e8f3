import Foundation
import LocalFiles

/// A directory for one test, removed after it.
enum TemporaryDirectory {
    static func use(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "kvstore-http-" + UUID().uuidString
        try LocalDirectory(path).create()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    static func use(_ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "kvstore-http-" + UUID().uuidString
        try LocalDirectory(path).create()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }
}

extension LocalFile {
    /// Writes a private file in a directory that may be missing.
    func create(_ text: String) throws {
        try directory.create()
        try replace(with: Data(text.utf8))
    }
}
