import Dispatch
import Foundation
import KVStoreTesting
import Synchronization
import Testing

@testable import KVStore

@Suite("Flushes", .timeLimit(.minutes(5)))
struct FlushTests {
    @Test("of two flushes at a time none says that all is on disk where one has failed")
    func besideFailure() async throws {
        let storage = SimulatedDisk().storage()
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: .system,
            outlet: { _ in })
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
        try replica.write(.value(Data("1".utf8)), forKey: "a")
        let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
        let second = DispatchSemaphore(value: 0)
        Thread.detachNewThread { outcome.yield((try? replica.flush()) != nil) }
        Thread.detachNewThread {
            began.wait()
            Thread.detachNewThread {
                outcome.yield((try? replica.flush()) != nil)
                second.signal()
            }
            // Where nothing held it up it would be over by now.
            _ = second.wait(timeout: .now() + .milliseconds(100))
            goesOn.signal()
        }
        var told: [Bool] = []
        for await outcome in outcomes {
            told.append(outcome)
            if told.count == 2 { break }
        }
        #expect(told == [false, false])
    }

    @Test("a flush after a close that could not bring everything to disk fails")
    func afterFailedClose() throws {
        let storage = SimulatedDisk().storage()
        let replica = try LocalReplica(
            storage: storage, options: DurableReplica.Options(), runtime: .system,
            outlet: { _ in })
        try replica.write(.value(Data("1".utf8)), forKey: "a")
        storage.aim(.fail(5), at: .sync, times: .max)
        replica.close()
        #expect(throws: StoreError.self) { try replica.flush() }
    }
}
