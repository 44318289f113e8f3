import Foundation

/// A temporary directory for the files of a group, removed with its last reference.
final class ScratchFolder {
    let path: String

    init(in parent: String) throws {
        path = parent + "/store-benchmarks-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(of name: String) -> String { path + "/" + name }

    /// The total size of the segments in a log directory.
    static func logByteCount(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".log") }
            .reduce(0) { total, name in
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                return total + (attributes[.size] as? Int ?? 0)
            }
    }
}
