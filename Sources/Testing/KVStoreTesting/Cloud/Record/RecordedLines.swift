import Foundation
import KVStoreSimulation
import KVStoreWire
import LocalFiles

/// The lines of a record's file, read as they are needed.
struct RecordedLines {
    private static let chunkByteCount = 65_536
    private static let lineByteCount = 16 << 20

    let path: String
    private var offset: Int64 = 0
    private var rest = Data()

    init(_ path: String) { self.path = path }

    /// What the first line says.
    ///
    /// - Parameter copy: the path of the record of the present run, which has to be another file.
    func start(writing copy: String?) throws(CloudError) -> RecordStart {
        struct FirstLine: Decodable { var record: RecordStart }
        var lines = self
        let line: Data?
        let isSameFile: Bool
        do throws(FileError) {
            line = try lines.next()
            isSameFile =
                try copy.map { copy throws(FileError) in
                    try FileStatus(path: copy)?.identity == FileStatus(path: path)?.identity
                } ?? false
        } catch {
            throw .recordFailed(error.description)
        }
        func failure(_ reason: String) -> CloudError {
            .recordFailed("cannot replay \(path): \(reason)")
        }
        guard let first = try? WireJSON.decode(FirstLine.self, from: line ?? Data()) else {  // else it throws
            throw failure("line 1: it is not the beginning of a record")
        }
        let start = first.record
        if let defect = start.defect { throw failure("line 1: \(defect)") }
        guard start.source == RecordStart.simulatedCloud else {
            throw failure("it is the record of an emulator; use kvsd emulator replay")
        }
        guard !isSameFile else { throw failure("the record of this run needs another file") }
        return start
    }

    /// The next line without its end, or nil. The last line of a process that was killed may be incomplete; it is not
    /// one.
    mutating func next() throws(FileError) -> Data? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = rest[(end + 1)...] }
                return Data(rest[..<end])
            }
            guard rest.count < Self.lineByteCount else {
                throw FileError(
                    operation: "read a line of", path: path, cause: .tooLarge(byteLimit: Self.lineByteCount))
            }
            let bytes = try LocalFile(path).withOpen { file throws(FileError) in
                try file.bytes(at: offset, count: Self.chunkByteCount)
            }
            guard !bytes.isEmpty else { return nil }
            offset += Int64(bytes.count)
            rest = Data(rest) + bytes
        }
    }
}
