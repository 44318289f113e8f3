import Dispatch
import Foundation
import KVStoreSimulation
import Synchronization
import KVStoreCore
import KVStoreLog
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Flushes", .timeLimit(.minutes(5)))
struct FlushTests {
    @Test("a failed flush fails a concurrent one as well")
    func besideFailure() async throws {
        let storage = SimulatedDisk().storage()
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: .system, execute: { _ in })
        let isFirst = Mutex(true)
        let (began, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        storage.duringSync.withLock {
            $0 = {
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else { return nil }
                began.signal()
                goesOn.wait()
                return 5
            }
        }
        try replica.write(["a": .value(Data("1".utf8))])
        let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
        let second = DispatchSemaphore(value: 0)
        Thread.detachNewThread { outcome.yield((try? replica.flush()) != nil) }
        Thread.detachNewThread {
            began.wait()
            Thread.detachNewThread {
                outcome.yield((try? replica.flush()) != nil)
                second.signal()
            }
            // Without serialization it would have returned by now.
            _ = second.wait(timeout: .now() + .milliseconds(100))
            goesOn.signal()
        }
        var results: [Bool] = []
        for await outcome in outcomes {
            results.append(outcome)
            if results.count == 2 { break }
        }
        #expect(results == [false, false])
    }

    @Test("a flush fails after a failed sync in close")
    func afterFailedClose() throws {
        let storage = SimulatedDisk().storage()
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: .system, execute: { _ in })
        try replica.write(["a": .value(Data("1".utf8))])
        storage.aim(.fail(5), at: .sync, times: .max)
        replica.close()
        #expect(throws: StoreError.self) { try replica.flush() }
    }

    @Test("closing waits for the disk only after a change")
    func closingAfterReading() throws {
        let disk = SimulatedDisk()
        func syncCount(_ body: (LocalReplica) throws -> Void) throws -> Int {
            let count = Counter()
            let storage = disk.storage()
            let replica = try LocalReplica(
                storage: storage, options: DurableReplica.Options(), runtime: .system, execute: { _ in })
            storage.duringSync.withLock {
                $0 = {
                    count.value.withLock { $0 += 1 }
                    return nil
                }
            }
            try body(replica)
            replica.close()
            return count.value.withLock { $0 }
        }
        let writing = try syncCount { try $0.write(["a": .value(Data("1".utf8))]) }
        #expect(writing > 0)
        let reading = try syncCount { replica in
            #expect(replica.read { $0.table.keyCount } == 1)
        }
        #expect(reading == 0)
    }
}

private final class Counter: Sendable {
    let value = Mutex(0)
}
