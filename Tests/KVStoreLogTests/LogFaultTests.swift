import KVStoreCore
import KVStoreSimulation
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreLog

@Suite("Log on a failing disk")
struct LogFaultTests {
    private static let noSpace: Int32 = 28
    private static let inputOutput: Int32 = 5

    private func openLog(
        segmentByteCount: Int = 256, isShared: Bool = true
    ) throws -> (SegmentedLog, SimulatedStorage, SimulatedDisk) {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let log = SegmentedLog.over(storage, segmentByteCount: segmentByteCount, isShared: isShared)
        _ = try log.openReading()
        return (log, storage, disk)
    }

    @Test("without space for a new segment an append fails as a whole, and succeeds once there is space")
    func noSpaceForSegment() throws {
        let (log, storage, disk) = try openLog()
        storage.aim(.fail(Self.noSpace), at: .create, times: .max)
        #expect(throws: LogError.self) { try log.appendExclusively([.numbered(0)]) }
        storage.heal()
        for number in 1...4 { try log.appendExclusively([.numbered(number)]) }
        storage.aim(.fail(Self.noSpace), at: .create, times: .max)
        for _ in 0..<3 {
            do throws(LogError) {
                try log.appendExclusively([.numbered(5)])
                Issue.record("there is no space")
            } catch {
                guard case .storage(let failure) = error else { throw error }
                #expect(failure.isOutOfSpace)
            }
        }
        #expect(!log.isClosedByFailure)
        #expect(disk.segments == [1])
        storage.heal()
        try log.appendExclusively([.numbered(6)])
        #expect(try framesOf(disk).frames.map(\.payload) == [1, 2, 3, 4, 6].map { .numbered($0) })
    }

    @Test("a sync concurrent with a failed one makes nothing durable")
    func syncBesideFailure() throws {
        let (log, storage, _) = try openLog(isShared: false)
        try log.appendExclusively([.numbered(1)])
        let pending = try #require(try log.prepareSync())
        storage.aim(.fail(Self.inputOutput), at: .sync)
        // The end of the segment syncs it, and fails.
        #expect(throws: LogError.self) {
            for number in 2...10 { try log.appendExclusively([.numbered(number)]) }
        }
        #expect(pending.perform() == nil)
        #expect(throws: LogError.self) { try log.finish(pending, failure: nil) }
    }

    @Test("a log that defers its segments appends nothing until the next one is there or has failed")
    func deferredSegment() throws {
        let (log, storage, disk) = try openLog(isShared: false)
        log.defersSegments = true
        func create() throws {
            let pending = try #require(try log.prepareSegment())
            try log.finish(pending, pending.perform())
        }
        #expect(throws: LogError.needsSegment) { try log.append([.numbered(1)]) }
        try create()
        for number in 1...3 { try log.append([.numbered(number)]) }
        let large = LogPayload(kind: 1, bytes: [UInt8](repeating: 7, count: 500))
        #expect(throws: LogError.needsSegment) { try log.append([large]) }
        // There is room for it, but the segment is about to end.
        #expect(throws: LogError.needsSegment) { try log.append([.numbered(0)]) }
        try log.sync()
        storage.aim(.fail(Self.noSpace), at: .create)
        #expect(throws: LogError.self) { try create() }
        #expect(!log.isSegmentDue && !log.isClosedByFailure)
        try log.append([.numbered(4)])
        #expect(throws: LogError.needsSegment) { try log.append([large]) }
        try log.sync()
        try create()
        try log.append([large])
        try log.close()
        #expect(disk.segments == [1, 2])
        let (recovery, frames) = try framesOf(disk)
        #expect(recovery.damage.isEmpty)
        #expect(frames.map(\.payload) == (1...4).map { .numbered($0) } + [large])
    }

    @Test("an exclusive log writes what was appended since the last sync at once")
    func groupWrite() throws {
        let (log, storage, _) = try openLog(isShared: false)
        try log.append([.numbered(1)])
        try log.sync()
        let writes = storage.count(of: .write)
        for number in 2...4 { try log.append([.numbered(number)]) }
        #expect(storage.count(of: .write) == writes)
        try log.sync()
        #expect(storage.count(of: .write) == writes + 1)
    }

    @Test("an exclusive log recovers from a write that fails at any byte, or from the sync after it")
    func recovery() throws {
        for byteCount in 0...81 {
            let (log, storage, disk) = try openLog(isShared: false)
            try log.append([.numbered(1)])
            try log.sync()
            try log.append([.numbered(2), .numbered(3)])
            if byteCount > 80 {
                storage.aim(.losePages, at: .sync)
            } else {
                storage.aim(.tear(byteCount), at: .write)
            }
            #expect(throws: LogError.self) { try log.sync() }
            #expect(throws: LogError.self) { try log.append([.numbered(4)]) }
            let live: [LogPayload] = [.numbered(1), .numbered(3)]
            storage.aim(.fail(Self.inputOutput), at: .create)
            for isHealthy in [false, true] {
                let pending = try #require(try log.prepareRecovery(with: live))
                #expect(pending.positions.map(\.segment) == [2, 2])
                let outcome = pending.perform()
                if isHealthy {
                    try log.finish(pending, outcome)
                } else {
                    #expect(throws: LogError.self) { try log.finish(pending, outcome) }
                }
                #expect(log.isClosedByFailure != isHealthy)
            }
            #expect(log.isDurable)
            try log.append([.numbered(5)])
            try log.sync()
            try log.close()
            disk.powerFails()
            let (recovery, frames) = try framesOf(disk)
            #expect(recovery.damage.isEmpty && recovery.tornTail == nil)
            #expect(frames.map(\.payload).suffix(3) == live + [.numbered(5)])
            // The disk may have kept parts of the failed group, before the new segment.
            #expect(frames.first?.payload == .numbered(1) && frames.count <= 6)
        }
    }

    @Test("a write that fails at any byte leaves only complete frames in a shared log")
    func tornSharedWrite() throws {
        let group: [LogPayload] = [.numbered(2), .numbered(3)]
        for byteCount in 0...80 {
            let (log, storage, disk) = try openLog()
            try log.appendExclusively([.numbered(1)])
            storage.aim(.tear(byteCount), at: .write)
            #expect(throws: LogError.self) { try log.appendExclusively(group) }
            let standing = Array(group.prefix(byteCount / 40))
            #expect(disk.bytes(of: 1)[(104 + 40 * standing.count)...].allSatisfy { $0 == 0 })
            // The writer visits the complete frames as well, as if another process had written them.
            let found = try log.appendExclusively([.numbered(4, byteCount: 9)])
            #expect(found.map(\.payload) == standing, "\(byteCount) bytes")
            #expect(
                try framesOf(disk).frames.map(\.payload) == [.numbered(1)] + standing + [.numbered(4, byteCount: 9)])
        }
    }

    @Test("after a failed sync nothing more is written, and no second sync is attempted")
    func failedSync() throws {
        let (log, storage, disk) = try openLog()
        try log.appendExclusively([.numbered(1)])
        storage.aim(.fail(Self.inputOutput), at: .sync)
        #expect(throws: LogError.self) { try log.sync() }
        #expect(log.isClosedByFailure)
        let syncs = storage.count(of: .sync)
        let writes = storage.count(of: .write)
        for _ in 0..<3 {
            do throws(LogError) {
                try log.appendExclusively([.numbered(2)])
                Issue.record("the log is closed")
            } catch {
                guard case .closedByFailure = error else { throw error }
            }
            do throws(LogError) {
                try log.sync()
                Issue.record("the log is closed")
            } catch {
                guard case .closedByFailure = error else { throw error }
            }
            #expect(throws: LogError.self) { try log.rewrite([.numbered(3)]) }
        }
        #expect(storage.count(of: .sync) == syncs)
        #expect(storage.count(of: .write) == writes)
        try log.close()
        // Opened again it is read from the disk, and written to.
        let again = SegmentedLog.over(disk.storage(), segmentByteCount: 256)
        #expect(try again.openReading().frames.map(\.payload) == [.numbered(1)])
        try again.appendExclusively([.numbered(5)])
    }

    @Test("a failed sync at the end of a segment closes the log before the next one is created")
    func failedSyncAtRotation() throws {
        let (log, storage, disk) = try openLog()
        for number in 1...4 { try log.appendExclusively([.numbered(number)]) }
        storage.aim(.fail(Self.inputOutput), at: .sync)
        do throws(LogError) {
            try log.appendExclusively([.numbered(5)])
            Issue.record("the failed sync was not reported")
        } catch {
            guard case .closedByFailure = error else { throw error }
        }
        #expect(log.isClosedByFailure)
        #expect(disk.segments == [1])
    }

    @Test("what was synced survives a power failure, and no frame is ever partial", arguments: 1...200)
    func powerLoss(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (log, _, disk) = try openLog(segmentByteCount: 4_096)
        var appended: [LogPayload] = []
        var syncedCount = 0
        for number in 0..<Int.random(in: 1...40, using: &random) {
            let payload = LogPayload.numbered(number, byteCount: Int.random(in: 8...900, using: &random))
            let segment = log.activeSegment
            try log.appendExclusively([payload])
            // A segment is synced before the next one is made.
            if log.activeSegment != segment { syncedCount = appended.count }
            appended.append(payload)
            if Int.random(in: 0..<5, using: &random) == 0 {
                try log.sync()
                syncedCount = appended.count
            }
        }
        var left = disk
        for _ in 0..<2 {
            left = left.afterPowerFailure(using: &random)
            let again = SegmentedLog.over(left.storage(), segmentByteCount: 4_096, salvages: true)
            let (recovery, frames) = try again.openReading()
            let payloads = frames.map(\.payload)
            #expect(Array(payloads.prefix(syncedCount)) == Array(appended.prefix(syncedCount)), "seed \(seed)")
            // The rest is some of what was appended, in order.
            var rest = appended.dropFirst(syncedCount)
            for payload in payloads.dropFirst(syncedCount) {
                guard let index = rest.firstIndex(of: payload) else {
                    Issue.record("seed \(seed): a frame that was not appended there")
                    return
                }
                rest = rest[(index + 1)...]
            }
            if recovery.damage.isEmpty {
                try again.appendExclusively([.numbered(1_000, byteCount: 300)])
                try again.sync()
                appended = payloads + [.numbered(1_000, byteCount: 300)]
            } else {
                try again.exclusively(visit: { _ in }) { () throws(LogError) in
                    _ = try again.rewrite(payloads)
                }
                appended = payloads
            }
            syncedCount = appended.count
            #expect(try framesOf(left).frames.map(\.payload) == appended, "seed \(seed)")
        }
    }

    @Test("a rewrite survives a power failure at any of its steps", arguments: 1...60)
    func powerLossInRewrite(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (log, storage, disk) = try openLog(segmentByteCount: 1_024)
        let payloads = (1...30).map { LogPayload.numbered($0, byteCount: 60) }
        for payload in payloads { try log.appendExclusively([payload]) }
        try log.sync()
        let (call, fault) = FaultPlan.faultsOfRewrite.randomElement(using: &random)!
        storage.aim(fault, at: call, number: Int.random(in: 1...3, using: &random))
        try? log.exclusively(visit: { _ in }) { () throws(LogError) in
            _ = try log.rewrite(payloads)
        }
        let left = disk.afterPowerFailure(using: &random)
        let kept = try framesOf(left, salvages: true).frames.map(\.payload)
        #expect(payloads.allSatisfy { kept.contains($0) }, "seed \(seed), \(call)")
    }
}
