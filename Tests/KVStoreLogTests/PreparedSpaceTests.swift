import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Space prepared for a segment")
struct PreparedSpaceTests {
    private func open(
        _ storage: FileLogStorage
    ) throws -> (log: SegmentedLog, frames: [SeenFrame]) {
        let log = SegmentedLog.over(storage, segmentByteCount: 4_096)
        return (log, try log.openReading().frames)
    }

    private func inode(_ path: String) throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
    }

    @Test("the next segment of its size uses it, and the one after does not")
    func used() throws {
        let directory = try TemporaryDirectory()
        let storage = try FileLogStorage(directory: directory.path)
        let (log, _) = try open(storage)
        storage.prepareSpace(byteCount: 4_096)
        #expect(directory.names == ["lock", "spare"])
        #expect(directory.bytes("spare") == [UInt8](repeating: 0, count: 4_096))
        let spare = try inode(directory.file("spare"))
        try log.appendExclusively([.numbered(1)])
        #expect(directory.names == ["0000000000000001.log", "lock"])
        #expect(try inode(directory.file("0000000000000001.log")) == spare)
        try log.appendExclusively([.numbered(2, byteCount: 4_000)])
        #expect(directory.bytes("0000000000000002.log").count == 4_096)
        #expect(try open(storage).frames.map(\.payload) == [.numbered(1), .numbered(2, byteCount: 4_000)])
    }

    @Test("a segment of another size removes it")
    func otherSize() throws {
        let directory = try TemporaryDirectory()
        let storage = try FileLogStorage(directory: directory.path)
        let (log, _) = try open(storage)
        storage.prepareSpace(byteCount: 4_096)
        try log.appendExclusively([.numbered(1, byteCount: 10_000)])
        #expect(directory.names == ["0000000000000001.log", "lock"])
        #expect(try open(storage).frames.map(\.payload) == [.numbered(1, byteCount: 10_000)])
    }

    @Test("what a killed process left of it is ignored, and never becomes part of a segment")
    func leftBehind() throws {
        let directory = try TemporaryDirectory()
        for name in ["spare", "0000000000000001.log.new"] {
            try directory.write([UInt8](repeating: 7, count: 8_192), to: name)
        }
        let storage = try FileLogStorage(directory: directory.path)
        let (log, frames) = try open(storage)
        #expect(frames.isEmpty && directory.names == ["lock"])
        try log.appendExclusively([.numbered(1)])
        try directory.write([UInt8](repeating: 7, count: 8_192), to: "spare")
        // A process that ends may still write to the former file, so that must not become a segment.
        let former = try #require(FileHandle(forReadingAtPath: directory.file("spare")))
        storage.prepareSpace(byteCount: 4_096)
        #expect(try former.readToEnd() == Data(repeating: 7, count: 8_192))
        #expect(directory.bytes("spare") == [UInt8](repeating: 0, count: 4_096))
        try log.appendExclusively([.numbered(2, byteCount: 4_000)])
        #expect(directory.names == ["0000000000000001.log", "0000000000000002.log", "lock"])
        #expect(try open(storage).frames.map(\.payload) == [.numbered(1), .numbered(2, byteCount: 4_000)])
    }

    @Test("it may be prepared while segments are created, and never touches one")
    func concurrent() async throws {
        let directory = try TemporaryDirectory()
        let storage = try FileLogStorage(directory: directory.path)
        async let preparing: Void = Task.detached {
            for _ in 0..<100 { storage.prepareSpace(byteCount: 4_096) }
        }.value
        let (log, _) = try open(storage)
        for number in 0..<100 {
            try log.appendExclusively([.numbered(number, byteCount: 3_000)])
        }
        await preparing
        #expect(try open(storage).frames.map(\.payload) == (0..<100).map { .numbered($0, byteCount: 3_000) })
    }
}
