import Foundation

/// A file of the time zone database, piece by piece [RFC 9636 3].
struct ZoneFile {
    var version = UInt8(ascii: "2")
    var times: [Int64] = []
    /// For each time the index of an offset.
    var types: [UInt8] = []
    var offsets: [Int32] = [0]
    var leapCount = 0
    var rule = ""

    var bytes: [UInt8] {
        // Readers of 64 bits skip the first block, so it may be empty but for a type.
        var first = self
        (first.times, first.types, first.offsets) = ([], [], [0])
        if version == 0 { return header + block(4) }
        return first.header + first.block(4) + header + block(8) + Array("\n\(rule)\n".utf8)
    }

    private var header: [UInt8] {
        Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
            + [0, 0, leapCount, times.count, offsets.count, 4].flatMap { big(Int64($0), 4) }
    }

    private func block(_ timeByteCount: Int) -> [UInt8] {
        times.flatMap { big($0, timeByteCount) } + types + offsets.flatMap { big(Int64($0), 4) + [0, 0] }
            + Array("XYZ\0".utf8) + [UInt8](repeating: 0, count: leapCount * (timeByteCount + 4))
    }

    private func big(_ number: Int64, _ byteCount: Int) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0.suffix(byteCount)) }
    }
}

/// A directory of such files, which is removed at the end.
final class ZoneDirectory {
    let path = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())").path

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
