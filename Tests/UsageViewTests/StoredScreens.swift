import Foundation
import Testing

/// Screens kept as text under fixtures/screens, reviewed as a diff.
///
/// `UPDATE_SCREENS=1 swift test` rewrites them; review the diff.
enum StoredScreens {
    static func expect(
        _ text: String, equals name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = root.appendingPathComponent("fixtures/screens/\(name).txt")
        if ProcessInfo.processInfo.environment["UPDATE_SCREENS"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        let stored = (try? Data(contentsOf: file)) ?? Data()
        #expect(
            stored == Data(text.utf8),
            "fixtures/screens/\(name).txt differs from:\n\(text)",
            sourceLocation: sourceLocation)
    }

    static func document(_ name: String) throws -> Data {
        try Data(contentsOf: root.appendingPathComponent("fixtures/snapshot/\(name).json"))
    }

    static func repositoryFile(_ path: String) throws -> Data {
        try Data(contentsOf: root.appendingPathComponent(path))
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
