import Foundation
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Log in files")
struct FileLogStorageTests {
    private func open(
        _ path: String, segmentByteCount: Int = 4_096, salvages: Bool = false
    ) throws -> (log: SegmentedLog, recovery: LogRecovery, frames: [SeenFrame]) {
        let log = SegmentedLog.over(
            try FileLogStorage(directory: path), segmentByteCount: segmentByteCount, salvages: salvages)
        let (recovery, frames) = try log.openReading()
        return (log, recovery, frames)
    }

    @Test("two processes exclude each other also after the lock file was removed or replaced")
    func removedLock() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let former = try FileLogStorage(directory: path)
        try former.lock()
        former.unlock()
        let identity = former.identity
        for replaces in [false, true] {
            try FileManager.default.removeItem(atPath: path + "/lock")
            if replaces { try Data().write(to: URL(fileURLWithPath: path + "/lock")) }
            let later = try FileLogStorage(directory: path)
            try later.lock()
            #expect(try !former.lockIfFree())
            later.unlock()
            #expect(try former.lockIfFree())
            #expect(try !later.lockIfFree())
            former.unlock()
            #expect(former.identity == later.identity)
        }
        #expect(identity != 0)
    }

    @Test("a new process reads what was appended, across many segments")
    func roundTrip() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        var random = SplitMix64(seed: 3)
        var expected: [LogPayload] = []
        for _ in 0..<5 {
            let (log, recovery, frames) = try open(path)
            #expect(frames.map(\.payload) == expected)
            #expect(recovery.tornTail == nil && recovery.damage.isEmpty)
            for _ in 0..<20 {
                let payload = LogPayload.numbered(expected.count, byteCount: Int.random(in: 1...1_500, using: &random))
                try log.appendExclusively([payload])
                expected.append(payload)
            }
            try log.close()
        }
        #expect(try open(path).frames.map(\.payload) == expected)
    }

    @Test("the directory has mode 0700, its files 0600, sixteen-digit names and no temporary file")
    func names() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("deep/er/store")
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

    @Test("an unfinished segment is ignored, and its name reused")
    func unfinishedSegment() throws {
        let directory = try TemporaryDirectory()
        try directory.write([1, 2, 3], to: "0000000000000001.log.new")
        try directory.write([1, 2, 3], to: "notes.txt")
        let (log, recovery, frames) = try open(directory.path)
        #expect(frames.isEmpty && recovery == LogRecovery())
        try log.appendExclusively([.numbered(1)])
        #expect(directory.names == ["0000000000000001.log", "lock", "notes.txt"])
        #expect(try open(directory.path).frames.map(\.payload) == [.numbered(1)])
    }

    @Test("a file cut at any byte of its last frame keeps all earlier frames")
    func cut() throws {
        let directory = try TemporaryDirectory()
        let (log, _, _) = try open(directory.path)
        for number in 1...3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        let whole = directory.bytes("0000000000000001.log")
        for length in 64 + 80..<64 + 120 {
            try directory.write(Array(whole.prefix(length)), to: "0000000000000001.log")
            #expect(try open(directory.path).frames.map(\.payload) == [.numbered(1), .numbered(2)])
        }
    }

    @Test("a damaged file is quarantined and not read again")
    func quarantine() throws {
        let directory = try TemporaryDirectory()
        let (log, _, _) = try open(directory.path)
        for number in 1...3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        var bytes = directory.bytes("0000000000000001.log")
        bytes[64 + 20] ^= 4
        try directory.write(bytes, to: "0000000000000001.log")
        let (salvaging, recovery, frames) = try open(directory.path, salvages: true)
        #expect(frames.map(\.payload) == [.numbered(2), .numbered(3)])
        let aside = directory.file("0000000000000001.log.damaged-1")
        #expect(recovery.quarantined == [aside])
        try salvaging.exclusively(visit: { _ in }) { () throws(LogError) in
            _ = try salvaging.rewrite(frames.map(\.payload))
        }
        #expect(directory.names == ["0000000000000001.log.damaged-1", "0000000000000002.log", "lock"])
        #expect(directory.bytes("0000000000000001.log.damaged-1") == bytes)
        #expect(try open(directory.path).recovery.damage.isEmpty)
    }

    @Test("a quarantined file keeps the bytes that were found, whatever is written to the segment later")
    func quarantineIsACopy() throws {
        let directory = try TemporaryDirectory()
        let name = "0000000000000001.log"
        // More than a buffer of the copy.
        let (log, _, _) = try open(directory.path, segmentByteCount: 200_000)
        for number in 0..<3 { try log.appendExclusively([.numbered(number)]) }
        try log.close()
        var bytes = directory.bytes(name)
        bytes[64 + 20] ^= 1
        // A torn tail, which the next append zeroes in the segment.
        bytes[184] = 9
        try directory.write(bytes, to: name)
        try directory.write([1], to: name + ".damaged-1")
        try directory.write([UInt8](repeating: 7, count: 300_000), to: name + ".damaged.new")
        let (salvaging, recovery, frames) = try open(directory.path, segmentByteCount: 200_000, salvages: true)
        #expect(frames.map(\.payload) == [.numbered(1), .numbered(2)])
        #expect(directory.bytes(name)[184] == 9)
        try salvaging.appendExclusively([.numbered(3)])
        let aside = name + ".damaged-2"
        #expect(recovery.quarantined == [directory.file(aside)])
        #expect(recovery.tornTail != nil && directory.bytes(name)[184] != 9)
        #expect(directory.bytes(aside).elementsEqual(bytes))
        #expect(directory.bytes(name + ".damaged-1") == [1])
        #expect(directory.names == [name, name + ".damaged-1", aside, "lock"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(aside))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileLogStorage.quarantinedFiles(in: directory.path)
                == [directory.file(name + ".damaged-1"), directory.file(aside)])
    }

    @Test("a directory removed while in use is an error")
    func removedFolder() throws {
        let directory = try TemporaryDirectory()
        let (log, _, _) = try open(directory.path)
        try log.appendExclusively([.numbered(1)])
        try FileManager.default.removeItem(atPath: directory.path)
        let gone = LogError.removed(path: directory.file("0000000000000001.log"))
        #expect(throws: gone) { try log.appendExclusively([.numbered(2)]) }
    }

    @Test("a second owner finds the lock taken; it is free once the first one is gone")
    func lock() throws {
        let directory = try TemporaryDirectory()
        var first: FileLogStorage? = try FileLogStorage(directory: directory.path)
        let second = try FileLogStorage(directory: directory.path)
        try first?.lock()
        #expect(try second.lockIfFree() == false)
        first = nil
        #expect(try second.lockIfFree())
        second.unlock()
        #expect(try FileLogStorage(directory: directory.path).lockIfFree())
    }

    @Test("a symbolic link with the name of a segment is not followed")
    func symbolicLink() throws {
        let directory = try TemporaryDirectory()
        let target = try TemporaryDirectory()
        try target.write([1], to: "precious")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("0000000000000001.log"), withDestinationPath: target.file("precious"))
        #expect(throws: LogError.self) { try open(directory.path) }
        #expect(target.bytes("precious") == [1])
    }

    @Test("threads that append through logs of their own lose and duplicate nothing")
    func threads() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
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

    @Test("files keep their identity in their place and get another one when they are copied")
    func identity() throws {
        let directory = try TemporaryDirectory()
        let first = try FileLogStorage(directory: directory.path + "/a").identity
        #expect(try FileLogStorage(directory: directory.path + "/a").identity == first)
        try FileManager.default.copyItem(atPath: directory.path + "/a", toPath: directory.path + "/b")
        #expect(try FileLogStorage(directory: directory.path + "/b").identity != first)
    }
}
