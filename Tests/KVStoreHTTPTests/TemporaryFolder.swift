import Foundation

/// A folder for one test, removed after it.
enum TemporaryFolder {
    static func use(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "kvstore-http-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }
}
