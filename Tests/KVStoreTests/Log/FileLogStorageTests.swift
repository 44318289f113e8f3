import Foundation
import Testing
import TestSupport

@testable import KVStore

@Suite("Log in files")
struct FileLogStorageTests {
    private func open(
        _ path: String, segmentByteCount: Int = 4_096, salvages: Bool = false
    ) throws -> (log: SegmentedLog, recovery: LogRecovery, frames: [SeenFrame]) {
        let log = SegmentedLog.over(
            try FileLogStorage(directory: path), segmentByteCount: segmentByteCount,
            salvages: salvages)
        let (recovery, frames) = try log.openReading()
        return (log, recovery, frames)
    }

    @Test("what is appended is read again by a new process, over many segments")
    func roundTrip() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("store")
        var random = SplitMix64(seed: 3)
        var expected: [LogPayload] = []
        for _ in 0..<5 {
            let (log, recovery, frames) = try open(path)
            #expect(frames.map(\.payload) == expected)
            #expect(recovery.tornTail == nil && recovery.damage.isEmpty)
            for _ in 0..<20 {
                let payload = LogPayload.numbered(
                    expected.count, byteCount: Int.random(in: 1...1_500, using: &random))
                try log.appendExclusively([payload])
                expected.append(payload)
            }
            try log.close()
        }
        #expect(try open(path).frames.map(\.payload) == expected)
    }

    @Test("the folder has mode 0700, files 0600, names of sixteen digits, and no unfinished file")
    func names() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("deep/er/store")
        let (log, _, _) = try open(path)
        try log.appendExclusively([.numbered(1)])
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(names == ["0000000000000001.log", "lock"])
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(path) == 0o700)
        for name in names { #expect(try mode(path + "/" + name) == 0o600) }
        #expect(try Data(contentsOf: URL(filePath: path + "/" + names[0])).count == 4_096)
    }

    @Test("a segment that was never finished is ignored, and its name used again")
    func unfinishedSegment() throws {
        let folder = try TemporaryDirectory()
        try folder.write([1, 2, 3], to: "0000000000000001.log.new")
        try folder.write([1, 2, 3], to: "notes.txt")
        let (log, recovery, frames) = try open(folder.path)
        #expect(frames.isEmpty && recovery == LogRecovery())
        try log.appendExclusively([.numbered(1)])
        #expect(folder.names == ["0000000000000001.log", "lock", "notes.txt"])
        #expect(try open(folder.path).frames.map(\.payload) == [.numbered(1)])
    }

    @Test("a file cut at any byte of its last frame keeps all earlier frames")
    func cut() throws {
        let folder = try TemporaryDirectory()
        let (log, _, _) = try open(folder.path)
        for number in 1...3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        let whole = folder.bytes("0000000000000001.log")
        for length in 64 + 80..<64 + 120 {
            try folder.write(Array(whole.prefix(length)), to: "0000000000000001.log")
            #expect(try open(folder.path).frames.map(\.payload) == [.numbered(1), .numbered(2)])
        }
    }

    @Test("a damaged file is set aside under another name and read by nobody again")
    func setAside() throws {
        let folder = try TemporaryDirectory()
        let (log, _, _) = try open(folder.path)
        for number in 1...3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        var bytes = folder.bytes("0000000000000001.log")
        bytes[64 + 20] ^= 4
        try folder.write(bytes, to: "0000000000000001.log")
        let (salvaging, recovery, frames) = try open(folder.path, salvages: true)
        #expect(frames.map(\.payload) == [.numbered(2), .numbered(3)])
        let aside = folder.file("0000000000000001.log.damaged-1")
        #expect(recovery.setAside == [aside])
        try salvaging.exclusively(visit: { _ in }) { () throws(LogError) in
            _ = try salvaging.rewrite(frames.map(\.payload))
        }
        #expect(
            folder.names == [
                "0000000000000001.log.damaged-1", "0000000000000002.log", "lock",
            ])
        #expect(folder.bytes("0000000000000001.log.damaged-1") == bytes)
        #expect(try open(folder.path).recovery.damage.isEmpty)
    }

    @Test("what is set aside stays as it was found, whatever is written to the segment then")
    func setAsideIsACopy() throws {
        let folder = try TemporaryDirectory()
        let name = "0000000000000001.log"
        // More than a buffer of the copy.
        let (log, _, _) = try open(folder.path, segmentByteCount: 200_000)
        for number in 0..<3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        var bytes = folder.bytes(name)
        bytes[64 + 20] ^= 1
        // A torn tail, which is zeroed in its place by what is written after the damage before it was set aside.
        bytes[184] = 9
        try folder.write(bytes, to: name)
        try folder.write([1], to: name + ".damaged-1")
        try folder.write([UInt8](repeating: 7, count: 300_000), to: name + ".damaged.new")
        let (salvaging, recovery, frames) = try open(
            folder.path, segmentByteCount: 200_000, salvages: true)
        #expect(frames.map(\.payload) == [.numbered(1), .numbered(2)])
        #expect(folder.bytes(name)[184] == 9)
        try salvaging.appendExclusively([.numbered(3)])
        let aside = name + ".damaged-2"
        #expect(recovery.setAside == [folder.file(aside)])
        #expect(recovery.tornTail != nil && folder.bytes(name)[184] != 9)
        #expect(folder.bytes(aside).elementsEqual(bytes))
        #expect(folder.bytes(name + ".damaged-1") == [1])
        #expect(folder.names == [name, name + ".damaged-1", aside, "lock"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(aside))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileLogStorage.filesSetAside(in: folder.path)
                == [folder.file(name + ".damaged-1"), folder.file(aside)])
    }

    @Test("a folder removed from under the process is noticed")
    func removedFolder() throws {
        let folder = try TemporaryDirectory()
        let (log, _, _) = try open(folder.path)
        try log.appendExclusively([.numbered(1)])
        try FileManager.default.removeItem(atPath: folder.path)
        let gone = LogError.removed(path: folder.file("0000000000000001.log"))
        #expect(throws: gone) { try log.appendExclusively([.numbered(2)]) }
    }

    @Test("a second owner finds the lock taken; it is free when the first is gone")
    func lock() throws {
        let folder = try TemporaryDirectory()
        var first: FileLogStorage? = try FileLogStorage(directory: folder.path)
        let second = try FileLogStorage(directory: folder.path)
        try first?.lock()
        #expect(try second.lockIfFree() == false)
        first = nil
        #expect(try second.lockIfFree())
        second.unlock()
        #expect(try FileLogStorage(directory: folder.path).lockIfFree())
    }

    @Test("a segment's name that is a link to another place is not followed")
    func symbolicLink() throws {
        let folder = try TemporaryDirectory()
        let target = try TemporaryDirectory()
        try target.write([1], to: "precious")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("0000000000000001.log"),
            withDestinationPath: target.file("precious"))
        #expect(throws: LogError.self) { try open(folder.path) }
        #expect(target.bytes("precious") == [1])
    }

    @Test("threads that append through logs of their own lose and double nothing")
    func threads() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let (log, _, _) = try open(path)
                    for number in 0..<100 {
                        try log.appendExclusively([.numbered(writer * 1_000 + number)])
                    }
                }
            }
            try await group.waitForAll()
        }
        let frames = try open(path).frames
        #expect(frames.count == 400)
        for writer in 0..<4 {
            let own = (0..<100).map { LogPayload.numbered(writer * 1_000 + $0) }
            #expect(frames.map(\.payload).filter { own.contains($0) } == own)
        }
    }
}
