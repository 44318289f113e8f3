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
            record: StoreRecord(
                key: "b", stamp: StoreStamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 9)),
                content: .value(Data("2".utf8))), sequence: 1)
        #expect(
            bench.answer(cursor: 1, [change]) == [
                "append b=2", "state e 1", "notify 0 b", "finish 1: 0 sent, 1 received, 1 pending, \(refusal)",
            ])
        #expect(bench.values == ["a": "1", "b": "2"] && bench.pendingKeys == ["a"])
        // Another write is tried, and so is the first one again once a round trip is requested; receiving comes first.
        #expect(bench.set("c", "3").last == "send e 1 c")
        #expect(bench.fail(refusal) == [])
        #expect(bench.replica.refusedKeys == ["a", "c"])
        #expect(bench.synchronize() == ["send e 1"])
        #expect(bench.answer(cursor: 1) == ["send e 1 a c"])
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
        let present = StoreRecord.other("a", "1", at: 1_000_000 + hour / 2).stamp
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
            cursor: SyncCursor(epoch: "e", sequence: 0), serverTime: bench.now.wall - 1_000_000_000,
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

@Suite("Changes that a daemon has no room for")
struct RefusalTests {
    private static let full = SyncTransportError.refused(status: 507, code: "account-full", message: "no room")

    @Test("a refused change keeps nothing from being received, and holds up neither removals nor what is small")
    func onlyOne() {
        var bench = ReplicaBench.joined(isLive: true)
        _ = bench.receive(.opened)
        _ = bench.set("old", "1")
        _ = bench.answer(cursor: 1)
        _ = bench.endStream()
        _ = bench.set(["huge": String(repeating: "v", count: 400), "old": nil, "tiny": "1"])
        #expect(bench.synchronize() == ["send e 1 old tiny huge"])
        // Without the changes first; the stream is opened before they are tried again.
        #expect(bench.fail(Self.full) == ["send e 1"])
        #expect(bench.answer(cursor: 1) == ["open stream e 1", "send e 1 old"])
        _ = bench.receive(.opened)
        #expect(bench.replica.connection == .connected)
        #expect(bench.answer(cursor: 2).suffix(2) == ["state e 2", "send e 2 tiny huge"])
        #expect(bench.fail(Self.full) == ["send e 2 tiny"])
        #expect(bench.answer(cursor: 3).last == "send e 3 huge")
        let lines = bench.fail(Self.full)
        #expect(lines.count == 2 && lines.first?.hasPrefix("wake in ") == true)
        #expect(lines.last == "finish 1: 2 sent, 0 received, 1 pending, \(Self.full)")
        #expect(bench.replica.refusedKeys == ["huge"] && bench.replica.connection == .connected)
        // Another write goes on; the refused one is tried alone, with growing pauses, and then sent.
        #expect(bench.set("new", "1").last == "send e 3 new")
        _ = bench.answer(cursor: 4)
        var greatest: Int64 = 0
        for _ in 0..<10 {
            let start = bench.now.monotonic
            while bench.request == nil, bench.now.monotonic < start + 60_000 {
                bench.advance(milliseconds: 50)
                _ = bench.handle(.woke)
            }
            greatest = max(greatest, bench.now.monotonic - start)
            #expect(bench.request?.changes.map(\.key) == ["huge"])
            _ = bench.fail(Self.full)
        }
        #expect((15_000...30_050).contains(greatest))
        #expect(bench.synchronize() == ["send e 4"])
        #expect(bench.answer(cursor: 4).last == "send e 4 huge")
        #expect(bench.answer(cursor: 5).last == "finish 2: 1 sent, 0 received, 0 pending")
        #expect(bench.set(["a": "1", "b": "1"]).last == "send e 5 a b")
    }

    @Test("after a refused change has given way to another device's, new ones are sent")
    func superseded() {
        for error in [Self.full, .refused(status: 503, code: "disk-failed", message: "")] {
            var bench = ReplicaBench.joined(isLive: true)
            _ = bench.receive(.opened)
            _ = bench.set("a", "1")
            _ = bench.fail(error)
            _ = bench.answer()
            #expect(bench.replica.refusedKeys == ["a"])
            _ = bench.receive(.change(.other("a", "2", at: 2_000_000, sequence: 1)))
            #expect(bench.pendingKeys == [])
            bench.advance(milliseconds: 1_000)
            #expect(bench.handle(.woke) == [])
            #expect(bench.set("b", "1").last == "send e 1 b")
        }
    }

    @Test("what waits is tried even if what was to be tried before it has given way to another device's")
    func moot() {
        var bench = ReplicaBench.joined()
        _ = bench.set(["a": "11", "b": "222"])
        _ = bench.fail(Self.full)
        #expect(bench.answer() == ["send e 0 a"])
        #expect(bench.fail(Self.full) == ["send e 0 b"])
        #expect(bench.fail(Self.full).last?.hasPrefix("wake in ") == true)
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
        _ = bench.fail(.unreachable("lost"))
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0"])
        let lines = bench.answer(cursor: 1, [.other("a", "9", at: 2_000_000, sequence: 1)])
        #expect(lines.last?.hasPrefix("wake in ") == true && bench.pendingKeys == ["b"])
        bench.advance(milliseconds: 2_000)
        #expect(bench.handle(.woke) == ["send e 1 b"])
    }

    @Test(
        "every refusal that says nothing about reading is followed by a request without changes, and no other is",
        arguments: [
            (403, "read-only", true), (413, "", true), (400, "malformed", true), (507, "memory-full", true),
            (507, "too-many-stores", true), (507, "disk-full", true), (503, "write-failed", true),
            (503, "disk-failed", true), (503, "outcome-unknown", true), (503, "database-failed", true),
            (503, "unavailable", false), (403, "other-account", false), (404, "unknown-store", false),
        ])
    func kinds(status: Int, code: String, isOfChanges: Bool) {
        let error = SyncTransportError.refused(status: status, code: code, message: "")
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let lines = bench.fail(error)
        #expect(lines.contains("send e 0") == isOfChanges && bench.pendingKeys == ["a"])
        // If that fails too, it is a failure like others.
        _ = bench.synchronize()
        #expect(bench.fail(error).contains("finish 1: \(error)"))
    }

    @Test("whatever has room by itself arrives, in few requests, and of the rest one is tried at a time")
    func room() {
        for seed in 1...UInt64(100) {
            var random = SplitMix64(seed: seed)
            var bench = ReplicaBench.joined(id: seed, limits: StoreLimits(totalByteCount: .max, keyCount: .max))
            let count = Int.random(in: 1...[3, 12, 40].randomElement(using: &random)!, using: &random)
            // What the daemon holds, and how many bytes more it takes.
            var held: [StoreKey: Int] = [:]
            var room = 1 << 40
            var cursor: UInt64 = 0
            func serve() -> Int {
                var requestCount = 0
                while let request = bench.request {
                    requestCount += 1
                    let growth = request.changes.reduce(0) { $0 + $1.content.byteCount - held[$1.key, default: 0] }
                    if growth > 0, growth > room {
                        _ = bench.fail(Self.full)
                    } else {
                        room -= growth
                        for change in request.changes { held[change.key] = change.content.byteCount }
                        cursor += UInt64(request.changes.count)
                        _ = bench.answer(cursor: cursor)
                    }
                }
                return requestCount
            }
            for number in 0..<count where Bool.random(using: &random) {
                _ = bench.set(
                    StoreKey("k\(number)"), String(repeating: "v", count: .random(in: 1...500, using: &random)))
                _ = serve()
            }
            room = Int.random(in: 0...1_000, using: &random)
            var values: [StoreKey: String?] = [:]
            for number in 0..<count {
                let size = Int.random(in: 0...500, using: &random)
                values[StoreKey("k\(number)")] = .some(size < 100 ? nil : String(repeating: "w", count: size))
            }
            _ = bench.set(values)
            let first = serve()
            #expect(first <= 2 * count + 20, "seed \(seed)")
            // What is left is tried in turn, a change at a time, until none of it is accepted any more.
            var (end, left) = (Int64.min, Int.max)
            while left > bench.pendingKeys.count || bench.now.monotonic < end {
                if left > bench.pendingKeys.count { end = bench.now.monotonic + Int64(count + 2) * 31_000 }
                left = bench.pendingKeys.count
                bench.advance(milliseconds: 1_000)
                _ = bench.handle(.woke)
                #expect(serve() <= 2 * count + 20)
            }
            for key in bench.pendingKeys {
                let growth = bench.replica.table[key]!.record.content.byteCount - held[key, default: 0]
                #expect(growth > room, "seed \(seed): \(key)")
            }
            #expect(Set(bench.replica.refusedKeys) == bench.pendingKeys, "seed \(seed)")
            // Once there is room everything goes within one back-off.
            room = 1 << 40
            for _ in 0..<31 {
                bench.advance(milliseconds: 1_000)
                _ = bench.handle(.woke)
                _ = serve()
            }
            #expect(bench.pendingKeys.isEmpty && bench.replica.refusedKeys.isEmpty, "seed \(seed)")
        }
    }
}
