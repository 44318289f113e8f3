import Foundation
import KVStoreSimulation
import LocalFiles
import Synchronization
import Testing

@testable import KVStoreLog

@Suite("Simulated disk", .timeLimit(.minutes(1)))
struct SimulatedDiskTests {
    private func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }

    private func read(_ file: any LogFile) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: file.byteCount, alignment: 8)
        defer { buffer.deallocate() }
        return Array(buffer.prefix(try file.read(into: buffer, at: 0)))
    }

    @Test("a segment has its preallocated size, and an open file outlives its removal")
    func removal() throws {
        let disk = SimulatedDisk()
        let (writer, reader) = (disk.storage(), disk.storage())
        _ = try writer.create(segment: 1, content: [7, 7], byteCount: 4)
        let file = try #require(try reader.open(segment: 1))
        try writer.remove(segment: 1)
        #expect(try reader.segments() == [])
        #expect(try reader.open(segment: 1) == nil)
        #expect(try read(file) == [7, 7, 0, 0])
    }

    @Test("a power failure keeps what was synced and any subset of the sectors written since")
    func powerFailure() throws {
        var outcomes: Set<[UInt8]> = []
        for seed in 0..<200 as Range<UInt64> {
            func left() throws -> [UInt8] {
                let disk = SimulatedDisk(seed: seed)
                let storage = disk.storage()
                let file = try storage.create(segment: 1, content: [], byteCount: 2_048)
                try file.write(bytes(1, 2_048), at: 0)
                try file.sync()
                try file.write(bytes(2, 1_024), at: 256)
                disk.powerFails()
                #expect(throws: FileError.self) { try file.sync() }
                return try read(#require(try disk.storage().open(segment: 1)))
            }
            let found = try left()
            #expect(try left() == found)
            for part in [256..<512, 512..<1_024, 1_024..<1_280] {
                #expect(Set(found[part]).count == 1, "seed \(seed)")
            }
            #expect(Set(found[..<256] + found[1_280...]) == [1], "seed \(seed)")
            outcomes.insert([found[256], found[512], found[1_024]])
        }
        #expect(outcomes.count == 8)
    }

    @Test("a failed sync loses its pages with the next power failure, and each open file reports it once")
    func lostPages() throws {
        let disk = SimulatedDisk()
        let (first, second) = (disk.storage(), disk.storage())
        let file = try first.create(segment: 1, content: [], byteCount: 8)
        let other = try #require(try second.open(segment: 1))
        try file.write([1], at: 0)
        first.aim(.losePages, at: .sync)
        #expect(throws: FileError.self) { try file.sync() }
        try file.sync()
        #expect(throws: FileError.self) { try other.sync() }
        try other.sync()
        try #require(try second.open(segment: 1)).sync()
        #expect(disk[1]?[0] == 1)
        disk.powerFails { _ in true }
        #expect(disk[1]?[0] == 0)
    }

    @Test("a fault strikes the calls that it is aimed at, of its own process, and no others")
    func aimed() throws {
        let disk = SimulatedDisk()
        let (storage, other) = (disk.storage(), disk.storage())
        func failures(_ storage: SimulatedStorage, _ count: Int) -> [Int] {
            (1...count).filter { _ in (try? storage.syncNames()) == nil }
        }
        storage.aim(.fail(5), at: .syncNames, number: 2, times: 3)
        #expect(failures(other, 5) == [])
        #expect(failures(storage, 6) == [2, 3, 4])
        storage.aim(.fail(5), number: 3)
        _ = try storage.segments()
        #expect(failures(storage, 4) == [2])
        storage.aim(.fail(5), at: .syncNames, times: .max)
        #expect(failures(storage, 9).count == 9)
        storage.heal()
        disk.faults.aim(.fail(5), at: .syncNames, number: 2)
        #expect(failures(storage, 1) == [] && failures(other, 1) == [1])
        #expect(storage.count(of: .syncNames) == 20)
    }

    @Test("a process that is killed in a write leaves a part of it, touches nothing more and frees its lock")
    func killed() throws {
        let disk = SimulatedDisk()
        let (storage, next) = (disk.storage(), disk.storage())
        try storage.lock()
        #expect(try !next.lockIfFree())
        let file = try storage.create(segment: 1, content: [], byteCount: 8)
        storage.aim(.kill(after: 2), at: .write)
        #expect(throws: FileError.self) { try file.write([1, 2, 3], at: 0) }
        #expect(storage.isKilled)
        #expect(try next.lockIfFree())
        #expect(throws: FileError.self) { try file.write([9, 9, 9], at: 0) }
        #expect(throws: FileError.self) { try storage.remove(segment: 1) }
        storage.unlock()
        #expect(try !disk.storage().lockIfFree())
        #expect(disk[1] == [1, 2, 0, 0, 0, 0, 0, 0])
    }

    @Test("the lock makes another process's thread wait until it is free, or its process killed")
    func waiting() throws {
        let disk = SimulatedDisk()
        let (first, second, third) = (disk.storage(), disk.storage(), disk.storage())
        let outcomes = Mutex<[Bool]>([])
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func lock(_ storage: SimulatedStorage) {
            Thread.detachNewThread {
                began.signal()
                let isLocked = (try? storage.lock()) != nil
                outcomes.withLock { $0.append(isLocked) }
                ended.signal()
            }
            began.wait()
        }
        try first.lock()
        lock(second)
        #expect(ended.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
        first.unlock()
        ended.wait()
        lock(third)
        third.kill()
        ended.wait()
        lock(first)
        second.kill()
        ended.wait()
        #expect(outcomes.withLock { $0 } == [true, false, true])
    }

    @Test("a creation that does not fit creates nothing, and one that fails leaves all or nothing")
    func creation() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        disk.faults.capacity = 10
        _ = try storage.create(segment: 1, content: [], byteCount: 8)
        do throws(FileError) {
            _ = try storage.create(segment: 2, content: [], byteCount: 8)
            Issue.record("there is no space")
        } catch {
            #expect(error.isOutOfSpace)
        }
        disk.faults.capacity = nil
        var kept: [UInt64] = []
        for segment in 2..<40 as Range<UInt64> {
            storage.aim(.fail(5), at: .create)
            #expect(throws: FileError.self) {
                try storage.create(segment: segment, content: [3], byteCount: 2)
            }
            if disk[segment] == [3, 0] { kept.append(segment) }
        }
        #expect(try storage.segments() == [1] + kept)
        #expect((1..<38).contains(kept.count))
    }

    @Test("a copy in another place has another identity, and quarantined copies stay as they were")
    func copies() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        _ = try storage.create(segment: 1, content: [1], byteCount: 1)
        let path = try storage.quarantine(segment: 1)
        disk[1] = [2]
        #expect(try storage.quarantine(segment: 1) != path)
        #expect(disk.quarantined[path] == [1] && disk.quarantined.count == 2)
        let branch = disk.copy()
        #expect(branch.identity == disk.identity && branch[1] == [2])
        branch.restore(disk.snapshot())
        #expect(branch.identity != disk.identity && branch[1] == [2])
        branch[1] = nil
        #expect(disk[1] == [2])
    }
}
