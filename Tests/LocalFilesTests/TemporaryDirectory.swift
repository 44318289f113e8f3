import Foundation
import LocalFiles

/// A directory that is removed with its last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/local-files-\(UUID().uuidString)"
        try LocalDirectory(path).create()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> LocalFile { LocalFile(path + "/" + name) }

    var names: [String] { get throws { try LocalDirectory(path).entries().entries.map(\.name).sorted() } }

    func mode(_ name: String = "") throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return attributes[.posixPermissions] as? Int
    }
}
