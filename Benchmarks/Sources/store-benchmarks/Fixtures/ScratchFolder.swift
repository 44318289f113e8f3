import Foundation

/// A folder for one group's files, removed with its last reference.
final class ScratchFolder {
    let path: String

    init(in parent: String) throws {
        path = parent + "/store-benchmarks-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(of name: String) -> String { path + "/" + name }

    /// Bytes of the segments in a folder of a log.
    static func logByteCount(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".log") }
            .reduce(0) { total, name in
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: folder + "/" + name)
                return total + (attributes[.size] as? Int ?? 0)
            }
    }
}
