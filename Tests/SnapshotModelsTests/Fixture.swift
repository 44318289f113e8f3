import Foundation

/// Documents under fixtures/ at the root of the repository.
enum Fixture {
    static func data(_ path: String) throws -> Data {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: root.appendingPathComponent("fixtures/" + path))
    }
}
