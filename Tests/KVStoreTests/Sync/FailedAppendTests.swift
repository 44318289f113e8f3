import Foundation
import KVStoreTesting
import Synchronization
import Testing

@testable import KVStore

@Suite("What cannot be written down or read")
struct FailedAppendTests {
    private final class Device: Sendable {
        let storage = SimulatedDisk().storage()
        private let time = Mutex<Int64>(1_000)
        private let effects = Mutex<[Effect]>([])
        private let looks = Mutex<[StoreRuntime.Body]>([])

        func open() throws -> LocalReplica {
            var runtime = StoreRuntime.system
            runtime.now = { [self] in
                Moment(wall: 1_000_000, monotonic: time.withLock { $0 })
            }
            runtime.after = { [self] milliseconds, body in
                if milliseconds == Backoff.greatestMilliseconds {
                    looks.withLock { $0.append(body) }
                }
            }
            return try LocalReplica(
                storage: storage, options: DurableReplica.Options(), runtime: runtime
            ) { [self] effect in effects.withLock { $0.append(effect) } }
        }

        /// Another program of the device writes a key.
        func writeElsewhere(_ key: String) throws {
            let other = try LocalReplica(
                storage: storage.disk.storage(), options: DurableReplica.Options(),
                runtime: .system, outlet: { _ in })
            try other.write(.value(Data("1".utf8)), forKey: key)
        }

        /// Lets the time pass until it looks again; returns how many times that was due.
        func lookAgain() -> Int {
            let due = looks.withLock { looks in
                defer { looks = [] }
                return looks
            }
            for look in due { look() }
            return due.count
        }

        func pass(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

        /// What was to be done since the last look.
        func newEffects() -> [String] {
            effects.withLock { effects in
                defer { effects = [] }
                return effects.map { effect in
                    switch effect {
                    case .send(let request): "send \(request.epoch ?? "none") \(request.since)"
                    case .openStream(let since, let epoch): "open stream \(epoch) \(since)"
                    case .wake: "wake"
                    case .notify(let change): "notify \(change.keys)"
                    default: "\(effect)"
                    }
                }
            }
        }
    }

    private let answer = SyncResponse(
        epoch: "e", cursor: 1, serverTime: 1_000_000, initial: true, more: false,
        changes: [.other("a", "1", seq: 1)])

    /// A replica that has completed its first download and waits for what comes.
    private func connected() throws -> (Device, LocalReplica) {
        let device = Device()
        let replica = try device.open()
        try replica.handle(.attached(isLive: true))
        #expect(replica.tell(.answered(answer)).again == nil)
        _ = device.newEffects()
        return (device, replica)
    }

    @Test(
        "an answer that the disk does not take is a failed round, and it is asked for anew"
    )
    func answered() throws {
        let device = Device()
        let replica = try device.open()
        try replica.handle(.attached(isLive: true))
        #expect(device.newEffects() == ["send none 0"])
        device.storage.aim(.fail(28), at: .write)
        #expect(replica.tell(.answered(answer)).again == nil)
        #expect(device.newEffects() == ["wake"])
        #expect(replica.read { $0.visibleContents.isEmpty && !$0.initialSyncCompleted })
        device.pass(milliseconds: 60_000)
        #expect(replica.tell(.woke).again == nil)
        #expect(device.newEffects() == ["send none 0"])
        #expect(replica.tell(.answered(answer)).again == nil)
        #expect(device.newEffects() == ["notify [\"a\"]", "open stream e 1"])
    }

    @Test("a change on the stream that the disk does not take ends the stream, and comes again")
    func streamed() throws {
        let (device, replica) = try connected()
        device.storage.aim(.fail(28), at: .write)
        let telling = replica.tell(.stream(.change(.other("b", "1", seq: 2))))
        #expect(!telling.isTaken && telling.again == nil)
        #expect(device.newEffects() == ["wake"])
        #expect(replica.read { Set($0.visibleContents.keys) } == ["a"])
        device.pass(milliseconds: 60_000)
        #expect(replica.tell(.woke).again == nil)
        #expect(device.newEffects() == ["send e 1"])
    }

    @Test("a write that failed only after it had arrived is told and sent after a while")
    func arrived() throws {
        let (device, replica) = try connected()
        device.storage.aim(.tear(10_000), at: .write)
        #expect(throws: StoreError.self) {
            try replica.write(.value(Data("1".utf8)), forKey: "k")
        }
        #expect(device.newEffects() == [])
        #expect(device.lookAgain() == 1)
        #expect(device.newEffects() == ["notify [\"k\"]", "send e 1"])
        #expect(device.lookAgain() == 0)
    }

    @Test("what another program wrote is told after a while where looking for it failed")
    func unseen() throws {
        let device = Device()
        let replica = try device.open()
        try device.writeElsewhere("k")
        device.storage.aim(.fail(24), at: .segments, times: .max)
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(device.lookAgain() == 1)
        device.storage.heal()
        #expect(device.newEffects() == [])
        #expect(device.lookAgain() == 1)
        #expect(device.newEffects() == ["notify [\"k\"]"])
        #expect(device.lookAgain() == 0)
    }

    @Test("what another program wrote is sent after a while where looking for it failed halfway")
    func unsent() throws {
        let (device, replica) = try connected()
        try device.writeElsewhere("k")
        // The record is read, and then the folder cannot be listed.
        device.storage.aim(.fail(24), at: .segments)
        #expect(throws: StoreError.self) { try replica.catchUp() }
        #expect(device.newEffects() == [])
        #expect(device.lookAgain() == 1)
        #expect(device.newEffects() == ["notify [\"k\"]", "send e 1"])
    }

    @Test("an event that cannot be told at all is given back, and told later")
    func givenBack() throws {
        let device = Device()
        let replica = try device.open()
        try replica.handle(.attached(isLive: true))
        _ = device.newEffects()
        device.storage.aim(.fail(5), at: .lock, times: .max)
        let again = try #require(replica.tell(.answered(answer)).again)
        guard case .failed = again else {
            Issue.record("it is given back as \(again)")
            return
        }
        #expect(device.newEffects() == [])
        device.storage.heal()
        #expect(replica.tell(again).again == nil)
        #expect(device.newEffects() == ["wake"])
    }

    @Test("a closed replica takes no events and asks for none to be told again")
    func closed() throws {
        let device = Device()
        let replica = try device.open()
        try replica.handle(.attached(isLive: true))
        replica.close()
        #expect(replica.tell(.answered(answer)).again == nil)
        #expect(throws: StoreError.self) { try replica.handle(.woke) }
    }
}
