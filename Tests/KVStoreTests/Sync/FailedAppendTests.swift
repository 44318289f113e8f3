import Foundation
import KVStoreLog
import KVStoreSimulation
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreEssentials
@testable import KVStoreCore

@Suite("Failed reads and writes of the log")
struct FailedAppendTests {
    private final class Device: Sendable {
        let storage = SimulatedDisk().storage()
        private let time = Mutex<Int64>(1_000)
        private let readies = Mutex<[Ready]>([])
        private let retries = Mutex<[StoreRuntime.Body]>([])

        func open() throws -> LocalReplica {
            var runtime = StoreRuntime.system
            runtime.now = { [self] in
                Instant(wall: 1_000_000, monotonic: time.withLock { $0 })
            }
            runtime.after = { [self] milliseconds, body in
                if milliseconds == Backoff.greatestMilliseconds {
                    retries.withLock { $0.append(body) }
                }
            }
            return try LocalReplica(
                storage: storage, options: DurableReplica.Options(), runtime: runtime,
                execute: { [self] ready in readies.withLock { $0.append(ready) } })
        }

        /// Another program of the device writes a key.
        func writeElsewhere(_ key: StoreKey) throws {
            let other = try LocalReplica(
                storage: storage.disk.storage(), options: DurableReplica.Options(), runtime: .system, execute: { _ in })
            try other.write([key: .value(Data("1".utf8))])
        }

        /// The retries that are due after the greatest back-off: to read the log, or to deliver an event.
        var retryCount: Int { retries.withLock { $0.count } }

        /// Lets the time of the retries come; returns their number.
        func retry() -> Int {
            let due = retries.withLock { retries in
                defer { retries = [] }
                return retries
            }
            for body in due { body() }
            return due.count
        }

        func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

        /// The work that the replica has handed out since the last call.
        func transcript() -> [String] {
            let new = readies.withLock { readies in
                defer { readies = [] }
                return readies
            }
            var transcript = Transcript()
            for ready in new { ready.execute(on: &transcript) }
            return transcript.lines
        }
    }

    private struct Transcript: ReadyExecutor {
        var lines: [String] = []

        mutating func notify(_ change: StoreChange) { lines.append("notify \(change.keys)") }

        mutating func closeStream() { lines.append("close stream") }

        mutating func openStream(id: UInt64, since: SyncCursor) {
            lines.append("open stream \(since.epoch.name) \(since.sequence)")
        }

        mutating func send(_ outgoing: Ready.Outgoing, mustSync: Bool) {
            let since = outgoing.request.since
            lines.append("send \(since.map { "\($0.epoch.name) \($0.sequence)" } ?? "none")")
        }

        mutating func wake(at milliseconds: Int64) { lines.append("wake") }

        mutating func complete(_ completion: Ready.Completion) { lines.append("finish") }
    }

    /// The answer to the request under way.
    private func answer(_ replica: LocalReplica) throws -> Event {
        let response = SyncResponse(
            cursor: SyncCursor(epoch: "e", sequence: 1), serverTime: 1_000_000, isInitial: true,
            changes: [.other("a", "1", sequence: 1)])
        let id = try #require(replica.read { $0.session.exchange?.id })
        return .answered(id: id, .success(response))
    }

    /// A change on the open stream.
    private func change(_ replica: LocalReplica, _ key: StoreKey = "b", sequence: UInt64 = 2) throws -> Event {
        let id = try #require(replica.read { $0.session.stream.id })
        return .stream(id: id, .change(.other(key, "1", sequence: sequence)))
    }

    /// A replica that has completed its first download and opened its stream.
    private func connected() throws -> (Device, LocalReplica) {
        let device = Device()
        let replica = try device.open()
        try replica.attach(isLive: true)
        #expect(replica.deliver(try answer(replica)))
        #expect(device.retryCount == 0)
        _ = device.transcript()
        return (device, replica)
    }

    @Test("an answer that cannot be written is a failed round trip, and is requested again")
    func answered() throws {
        let device = Device()
        let replica = try device.open()
        try replica.attach(isLive: true)
        #expect(device.transcript() == ["send none"])
        device.storage.aim(.fail(28), at: .write)
        #expect(!replica.deliver(try answer(replica)))
        #expect(device.transcript() == ["wake"])
        // Only the log is read again; the answer is not delivered again.
        #expect(device.retryCount == 1)
        #expect(replica.read { $0.visibleContents.isEmpty && !$0.state.initialSyncCompleted })
        device.advance(milliseconds: 60_000)
        #expect(replica.deliver(.woke))
        #expect(device.transcript() == ["send none"])
        #expect(replica.deliver(try answer(replica)))
        #expect(device.transcript() == ["notify [\"a\"]", "open stream e 1"])
        #expect(device.retryCount == 1)
    }

    @Test("a change on the stream that cannot be written ends the stream, and is requested again")
    func streamed() throws {
        let (device, replica) = try connected()
        device.storage.aim(.fail(28), at: .write)
        #expect(!replica.deliver(try change(replica)))
        #expect(device.retryCount == 1)
        #expect(device.transcript() == ["wake"])
        #expect(replica.read { Set($0.visibleContents.keys) } == ["a"])
        device.advance(milliseconds: 60_000)
        #expect(replica.deliver(.woke))
        #expect(device.transcript() == ["send e 1"])
        #expect(device.retryCount == 1)
    }

    @Test("after a change that was not written none is applied, even if the stream's end fails too")
    func interrupted() throws {
        let (device, replica) = try connected()
        let (lost, next) = (try change(replica), try change(replica, "c", sequence: 3))
        device.storage.aim(.fail(5), at: .lock, times: .max)
        #expect(!replica.deliver(lost))
        device.storage.heal()
        replica.deliver(next)
        #expect(replica.read { $0.state.cursor?.sequence } == 1)
        #expect(device.retry() == 2)
        device.advance(milliseconds: 60_000)
        #expect(replica.deliver(.woke))
        #expect(device.transcript() == ["wake", "send e 1"])
    }

    @Test("no change is applied after a stream's end that could not be handled yet")
    func ended() throws {
        let (device, replica) = try connected()
        let next = try change(replica, "c", sequence: 3)
        device.storage.aim(.fail(5), at: .lock, times: .max)
        #expect(!replica.deliver(.streamEnded(id: try #require(replica.read { $0.session.stream.id }), nil)))
        device.storage.heal()
        replica.deliver(next)
        #expect(replica.read { $0.state.cursor?.sequence } == 1)
        #expect(device.retry() == 2)
        device.advance(milliseconds: 60_000)
        #expect(replica.deliver(.woke))
        #expect(device.transcript() == ["wake", "send e 1"])
    }

    @Test("a write that failed after it had arrived is notified and sent later")
    func arrived() throws {
        let (device, replica) = try connected()
        device.storage.aim(.tear(10_000), at: .write)
        #expect(throws: StoreError.self) {
            try replica.write(["k": .value(Data("1".utf8))])
        }
        #expect(device.transcript() == [])
        #expect(device.retry() == 1)
        #expect(device.transcript() == ["notify [\"k\"]", "send e 1"])
        #expect(device.retry() == 0)
    }

    @Test("a write of another program that could not be read is notified later")
    func unread() throws {
        let device = Device()
        let replica = try device.open()
        try device.writeElsewhere("k")
        device.storage.aim(.fail(24), at: .segments, times: .max)
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(device.retry() == 1)
        device.storage.heal()
        #expect(device.transcript() == [])
        #expect(device.retry() == 1)
        #expect(device.transcript() == ["notify [\"k\"]"])
        #expect(device.retry() == 0)
    }

    @Test("a write of another program is sent later if reading failed halfway")
    func unsent() throws {
        let (device, replica) = try connected()
        try device.writeElsewhere("k")
        // The record is read, and then the directory cannot be listed.
        device.storage.aim(.fail(24), at: .segments)
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(device.transcript() == [])
        #expect(device.retry() == 1)
        #expect(device.transcript() == ["notify [\"k\"]", "send e 1"])
    }

    @Test("a failure that cannot be handled either is delivered again later")
    func redelivered() throws {
        let device = Device()
        let replica = try device.open()
        try replica.attach(isLive: true)
        _ = device.transcript()
        device.storage.aim(.fail(5), at: .lock, times: .max)
        #expect(!replica.deliver(try answer(replica)))
        // One reads the log again, the other one delivers the failure again.
        #expect(device.retryCount == 2)
        #expect(device.transcript() == [])
        device.storage.heal()
        #expect(device.retry() == 2)
        #expect(device.transcript() == ["wake"])
        #expect(device.retryCount == 0)
    }

    @Test(
        "after a failed sync a replica goes on by itself, and nothing that it has is lost",
        arguments: [FaultPlan.Fault.fail(5), .losePages], [true, false])
    func failedSync(_ fault: FaultPlan.Fault, isChanged: Bool) throws {
        let (device, replica) = try connected()
        try device.writeElsewhere("theirs")
        try replica.write(["own": .value(Data("1".utf8))])
        device.storage.aim(fault, at: .sync)
        #expect(throws: StoreError.self) { try replica.flush() }
        if isChanged {
            // The next event does it.
            #expect(replica.deliver(try change(replica)))
        } else {
            #expect(device.retry() == 1)
        }
        try replica.flush()
        device.storage.disk.powerFails { _ in false }
        let reopened = try LocalReplica(
            storage: device.storage.disk.storage(), options: DurableReplica.Options(),
            runtime: .system, execute: { _ in })
        let keys: Set<StoreKey> = isChanged ? ["a", "b", "own", "theirs"] : ["a", "own", "theirs"]
        #expect(reopened.read { Set($0.visibleContents.keys) } == keys)
        #expect(reopened.recoveryNotes.isEmpty)
    }

    @Test("a disk that goes on failing is tried again until it does not, and reading goes on")
    func failingSyncs() throws {
        let (device, replica) = try connected()
        try replica.write(["own": .value(Data("1".utf8))])
        device.storage.aim(.fail(5), at: .sync, times: .max)
        device.storage.aim(.fail(5), at: .create, times: .max)
        #expect(throws: StoreError.self) { try replica.flush() }
        for _ in 0..<3 { #expect(device.retry() >= 1) }
        #expect(throws: StoreError.self) { try replica.write(["next": .value(Data([1]))]) }
        #expect(replica.read { Set($0.visibleContents.keys) } == ["a", "own"])
        device.storage.heal()
        try replica.write(["next": .value(Data([1]))])
        try replica.flush()
        #expect(replica.read { Set($0.visibleContents.keys) } == ["a", "own", "next"])
    }

    @Test("a closed replica applies no events and asks for none again")
    func closed() throws {
        let device = Device()
        let replica = try device.open()
        try replica.attach(isLive: true)
        let answer = try answer(replica)
        replica.close()
        #expect(!replica.deliver(answer))
        #expect(!replica.deliver(.woke))
        #expect(device.retryCount == 0)
        #expect(throws: StoreError.self) { try replica.attach(isLive: true) }
    }
}
