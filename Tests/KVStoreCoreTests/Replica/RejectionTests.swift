import Foundation
import Testing

@testable import KVStore

@Suite("Refused changes")
struct RefusalTests {
    private func refuse(_ bench: ReplicaBench, _ reason: String) -> [SyncRejection] {
        (bench.request?.changes ?? []).map {
            SyncRejection(key: $0.key, reason: reason, stamp: $0.stamp)
        }
    }

    @Test("a device whose clock is ahead stamps its keys again, in their order, and sends them")
    func clock() throws {
        var bench = ReplicaBench.joined()
        bench.now.wall += 1_000_000_000
        _ = bench.set("a", "1")
        _ = bench.set("b", "1")
        // The daemon's clock is a billion milliseconds behind this device's.
        let lines = bench.answer(
            rejected: refuse(bench, SyncRejection.clock), ahead: -1_000_000_000)
        #expect(lines == ["state e 0", "append a=1 pending", "state e 0", "send e 0 a b"])
        // Readings that were given before are given again under another id.
        #expect(bench.replica.id != ReplicaID(rawValue: 1))
        let stamps = try #require(bench.request).changes.compactMap { Stamp($0.stamp) }
        #expect(stamps[0].milliseconds == 1_000_000)
        _ = bench.set("a", "2")
        // The other key, written in the meantime with a stamp from the future, is refused and mended next.
        let rejected = refuse(bench, SyncRejection.clock).filter { $0.key == "b" }
        #expect(
            bench.answer(cursor: 1, rejected: rejected, ahead: -1_000_000_000)
                == ["state e 0", "append b=1 pending", "state e 1", "send e 1 a b"])
        let mended = try #require(bench.request).changes.compactMap { Stamp($0.stamp) }
        #expect(stamps[0] < mended[0] && mended[0] < mended[1])
        #expect(mended[1].milliseconds == 1_000_000)
        #expect(
            bench.answer(cursor: 3, ahead: -1_000_000_000)
                == ["acknowledged a", "acknowledged b", "state e 3"])
        #expect(bench.replica.pendingKeys == [])
        #expect(bench.values == ["a": "2", "b": "1"])
    }

    @Test(
        "a stamp given anew comes after all that the daemon has, also of what was overwritten since"
    )
    func afterConfirmed() throws {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let first = try #require(bench.request?.changes.first.flatMap { Stamp($0.stamp) })
        _ = bench.answer(cursor: 1)
        bench.now.wall += 1_000_000
        _ = bench.set("a", "2")
        // Back to the very millisecond of the first write.
        _ = bench.answer(
            rejected: refuse(bench, SyncRejection.clock), ahead: -1_000_000)
        let second = try #require(bench.request?.changes.first.flatMap { Stamp($0.stamp) })
        #expect(second > first && second.milliseconds == first.milliseconds)
    }

    @Test(
        "a stamp given anew follows what the daemon has, also where the last one given anew is beyond the limit"
    )
    func presentBehindLimit() throws {
        let hour: Int64 = 3_600_000
        var bench = ReplicaBench.joined()
        // The daemon's clock is an hour ahead, and so is this key.
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.answer(cursor: 1, [.other("a", "1", at: 1_000_000 + hour / 2)], ahead: hour)
        bench.now.wall += 8_760 * hour
        _ = bench.set("a", "2")
        func refused(_ bench: ReplicaBench, limit: Int64) -> [SyncRejection] {
            (bench.request?.changes ?? []).map {
                SyncRejection(
                    key: $0.key, reason: SyncRejection.clock, limit: limit, stamp: $0.stamp,
                    present: SyncChange.other("a", "1", at: 1_000_000 + hour / 2).stamp)
            }
        }
        _ = bench.answer(
            cursor: 1, rejected: refused(bench, limit: 1_060_000 + hour), ahead: -8_759 * hour)
        // What was stamped anew gets lost, and the daemon's clock is put right.
        _ = bench.handle(.failed(.unreachable("lost")))
        bench.pass(milliseconds: 60_000)
        _ = bench.handle(.woke)
        _ = bench.answer(
            cursor: 1, rejected: refused(bench, limit: 1_000_000 + hour / 2),
            ahead: -8_760 * hour)
        let again = try #require(bench.request?.changes.first.flatMap { Stamp($0.stamp) })
        #expect(again.milliseconds == 1_000_000 + hour / 2)
        #expect(again.counter == 1)
    }

    @Test("a program that starts after a refusal goes on with the clock that went back")
    func afterReplay() throws {
        var bench = ReplicaBench.joined()
        bench.now.wall += 1_000_000_000
        var log = bench.entries { $0.write(.value(Data([1])), forKey: "a", at: $1).effects }
        let rejected = refuse(bench, SyncRejection.clock)
        log += bench.entries { replica, now in
            replica.handle(
                .answered(
                    SyncResponse(
                        epoch: "e", cursor: 0, serverTime: now.wall - 1_000_000_000,
                        initial: false, more: false, changes: [], rejected: rejected)), at: now)
        }
        var other = Replica(id: ReplicaID(rawValue: 1), limits: StoreLimits(), seed: 7)
        for entry in log { _ = other.replay(entry) }
        #expect(other.clock == bench.replica.clock)
        #expect(other.id == bench.replica.id)
        #expect(other.clock.reading.milliseconds == 1_000_000)
    }

    @Test("a daemon that refuses every stamp is not asked without a pause")
    func endlessRefusal() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        var rounds = 0
        while bench.request != nil, rounds < 20 {
            rounds += 1
            let lines = bench.answer(rejected: refuse(bench, SyncRejection.clock))
            if bench.request == nil { #expect(lines.contains("wake in 30000")) }
        }
        #expect(rounds == 4)
        #expect(bench.replica.pendingKeys == ["a"])
        bench.pass(milliseconds: 30_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1"])
    }

    @Test("a key refused for the quota stays, pending, and is told with reason 2; others go on")
    func quota() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(
            bench.answer(rejected: refuse(bench, SyncRejection.quota)) == ["notify 2 a"])
        #expect(bench.values == ["a": "1"])
        #expect(bench.replica.pendingKeys == ["a"])
        #expect(bench.set("b", "1") == ["append b=1 pending", "send e 0 b"])
        _ = bench.answer(cursor: 1)
        // A newer value is tried at once; the old one again when asked.
        #expect(bench.set("a", "2") == ["append a=2 pending", "send e 1 a"])
        _ = bench.answer(cursor: 1, rejected: refuse(bench, SyncRejection.quota))
        #expect(bench.handle(.synchronize(waiter: 1)) == ["send e 1 a"])
        #expect(
            bench.answer(cursor: 2) == [
                "acknowledged a", "state e 2", "finish 1: 1 sent, 0 received, 0 pending",
            ])
    }

    @Test("a refusal of an older value of a key does not concern the newer one")
    func olderRefused() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let refused = refuse(bench, SyncRejection.quota)
        _ = bench.set("a", "2")
        #expect(bench.answer(rejected: refused) == ["send e 0 a"])
    }
}

extension ReplicaBench {
    /// What a step leaves in the log.
    fileprivate mutating func entries(
        _ step: (inout Replica, Moment) -> [Effect]
    ) -> [ReplicaEntry] {
        step(&replica, now).compactMap { effect in
            if case .append(let entry) = effect { entry } else { nil }
        }
    }
}
