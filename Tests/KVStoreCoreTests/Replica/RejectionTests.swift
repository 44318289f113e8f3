import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Rejected changes")
struct RejectionTests {
    @Test("a replica whose clock is ahead reissues its stamps in order and sends the keys again")
    func clock() throws {
        var bench = ReplicaBench.joined()
        bench.now.wall += 1_000_000_000
        _ = bench.set("a", "1")
        _ = bench.set("b", "1")
        // The daemon's clock is a billion milliseconds behind this device's.
        let lines = bench.answer(rejections: bench.clockRejections(ahead: -1_000_000_000), ahead: -1_000_000_000)
        #expect(lines == ["state e 0", "append a=1 pending", "state e 0", "send e 0 a b"])
        // Readings that were issued before are issued again, under another id.
        #expect(bench.replica.id != ReplicaID(rawValue: 1))
        let stamps = try #require(bench.request).changes.map(\.stamp)
        #expect(stamps[0].milliseconds == 1_000_000)
        _ = bench.set("a", "2")
        // The other key, written meanwhile with a stamp from the future, is rejected and reissued next.
        let rejections = bench.clockRejections(ahead: -1_000_000_000).filter { $0.key == "b" }
        #expect(
            bench.answer(cursor: 1, rejections: rejections, ahead: -1_000_000_000)
                == ["state e 0", "append b=1 pending", "state e 1", "send e 1 a b"])
        let reissued = try #require(bench.request).changes.map(\.stamp)
        #expect(stamps[0] < reissued[0] && reissued[0] < reissued[1])
        #expect(reissued[1].milliseconds == 1_000_000)
        #expect(bench.answer(cursor: 3, ahead: -1_000_000_000) == ["acknowledged a", "acknowledged b", "state e 3"])
        #expect(bench.pendingKeys == [])
        #expect(bench.values == ["a": "2", "b": "1"])
    }

    @Test("a device that may not write receives changes, and reports the refusal of its own")
    func readOnly() {
        let refusal = SyncTransportError.refused(status: 403, code: "read-only", message: "no")
        var bench = ReplicaBench.joined(isLive: true)
        #expect(bench.set("a", "1").last == "send e 0 a")
        #expect(bench.synchronize() == [])
        #expect(bench.fail(refusal) == ["send e 0"])
        let change = SequencedRecord(
            record: Record(
                key: "b", stamp: Stamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 9)),
                content: .value(Data("2".utf8))), sequence: 1)
        #expect(
            bench.answer(cursor: 1, [change]) == [
                "append b=2", "state e 1", "notify 0 b", "finish 1: 0 sent, 1 received, 1 pending, \(refusal)",
            ])
        #expect(bench.values == ["a": "1", "b": "2"] && bench.pendingKeys == ["a"])
        // Another write is tried, and so is the first one again once a round trip is requested.
        #expect(bench.set("c", "3").last == "send e 1 c")
        #expect(bench.fail(refusal) == ["send e 1"])
        _ = bench.answer(cursor: 1)
        #expect(bench.synchronize() == ["send e 1 a c"])
        let accepted = bench.answer(cursor: 3)
        #expect(accepted.last == "finish 2: 2 sent, 0 received, 0 pending")
        #expect(bench.pendingKeys == [])
    }

    @Test("a reissued stamp exceeds everything the daemon has ever held, even what was replaced")
    func afterConfirmed() throws {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let first = try #require(bench.request?.changes.first?.stamp)
        _ = bench.answer(cursor: 1)
        bench.now.wall += 1_000_000
        _ = bench.set("a", "2")
        // Back to the very millisecond of the first write.
        _ = bench.answer(rejections: bench.clockRejections(ahead: -1_000_000), ahead: -1_000_000)
        let second = try #require(bench.request?.changes.first?.stamp)
        #expect(second > first && second.milliseconds == first.milliseconds)
    }

    @Test("a reissued stamp follows the daemon's record even if the last reissue is beyond the limit")
    func presentBelowLimit() throws {
        let hour: Int64 = 3_600_000
        var bench = ReplicaBench.joined()
        // The daemon's clock is an hour ahead, and so is this key.
        _ = bench.synchronize()
        _ = bench.answer(cursor: 1, [.other("a", "1", at: 1_000_000 + hour / 2)], ahead: hour)
        bench.now.wall += 8_760 * hour
        _ = bench.set("a", "2")
        let present = Record.other("a", "1", at: 1_000_000 + hour / 2).stamp
        _ = bench.answer(
            cursor: 1, rejections: bench.rejections(.clock(limit: 1_060_000 + hour, present: present)),
            ahead: -8_759 * hour)
        // The reissued stamp is lost, and the daemon's clock is corrected.
        _ = bench.fail(.unreachable("lost"))
        bench.advance(milliseconds: 60_000)
        _ = bench.handle(.woke)
        _ = bench.answer(
            cursor: 1, rejections: bench.rejections(.clock(limit: 1_000_000 + hour / 2, present: present)),
            ahead: -8_760 * hour)
        let reissued = try #require(bench.request?.changes.first?.stamp)
        #expect(reissued.milliseconds == 1_000_000 + hour / 2)
        #expect(reissued.counter == 1)
    }

    @Test("a program that starts after a rejection continues with the rewound clock")
    func afterReplay() throws {
        var bench = ReplicaBench.joined()
        bench.now.wall += 1_000_000_000
        var log = bench.replica.write(["a": .value(Data([1]))], at: bench.now).ready.entries
        let request = try #require(bench.replica.session.exchange)
        let response = SyncResponse(
            cursor: Cursor(epoch: "e", sequence: 0), serverTime: bench.now.wall - 1_000_000_000,
            rejections: bench.clockRejections(ahead: -1_000_000_000))
        log += bench.replica.handle(.answered(id: request.id, .success(response)), at: bench.now).entries
        var other = Replica(id: ReplicaID(rawValue: 1), limits: StoreLimits(), seed: 7)
        for entry in log { _ = other.replay(entry) }
        #expect(other.clock == bench.replica.clock)
        #expect(other.id == bench.replica.id)
        #expect(other.clock.reading.milliseconds == 1_000_000)
    }

    @Test("a daemon that rejects every stamp is not asked without a pause")
    func endlessRejection() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        var rounds = 0
        while bench.request != nil, rounds < 20 {
            rounds += 1
            let lines = bench.answer(rejections: bench.clockRejections())
            if bench.request == nil { #expect(lines.contains("wake in 30000")) }
        }
        #expect(rounds == 4)
        #expect(bench.pendingKeys == ["a"])
        bench.advance(milliseconds: 30_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1"])
    }

    @Test("a key rejected for the quota stays pending and is notified with reason 2; others are sent")
    func quota() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(bench.answer(rejections: bench.rejections(.quota(limit: 9))) == ["notify 2 a"])
        #expect(bench.values == ["a": "1"])
        #expect(bench.pendingKeys == ["a"])
        #expect(bench.set("b", "1") == ["append b=1 pending", "send e 0 b"])
        _ = bench.answer(cursor: 1)
        // A newer value is sent at once; the old one again with the next synchronize call.
        #expect(bench.set("a", "2") == ["append a=2 pending", "send e 1 a"])
        _ = bench.answer(cursor: 1, rejections: bench.rejections(.quota(limit: 9)))
        #expect(bench.synchronize() == ["send e 1 a"])
        #expect(bench.answer(cursor: 2) == ["acknowledged a", "state e 2", "finish 1: 1 sent, 0 received, 0 pending"])
    }

    @Test("the rejection of an older value does not affect a newer one")
    func olderRejected() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let rejections = bench.rejections(.quota(limit: 9))
        _ = bench.set("a", "2")
        #expect(bench.answer(rejections: rejections) == ["send e 0 a"])
    }
}
