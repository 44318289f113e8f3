package import Foundation
package import Testing

/// The files of this repository that tests read.
package enum Repository {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    package static let fixtures = root.appending(path: "fixtures")

    /// - Parameter path: below the root.
    package static func data(_ path: String) throws -> Data { try Data(contentsOf: root.appending(path: path)) }

    package static func text(_ path: String) throws -> String { String(decoding: try data(path), as: UTF8.self) }

    /// Expects a screen to be the one under fixtures/screens, byte for byte. `UPDATE_SCREENS=1 swift test` rewrites it;
    /// review the diff.
    package static func expectScreen(
        _ text: String, equals name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(
            Data(text.utf8), equals: "screens/\(name).txt", update: "UPDATE_SCREENS", sourceLocation: sourceLocation)
    }

    /// Expects bytes to be those of a file below the fixtures.
    ///
    /// - Parameter variable: of the environment; the file is written where it is 1.
    package static func expect(
        _ content: Data, equals name: String, update variable: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = fixtures.appending(path: name)
        if ProcessInfo.processInfo.environment[variable] == "1" { try content.write(to: file) }
        #expect(
            try Data(contentsOf: file) == content,
            "fixtures/\(name) differs from:\n\(String(decoding: content, as: UTF8.self))",
            sourceLocation: sourceLocation)
    }
}
