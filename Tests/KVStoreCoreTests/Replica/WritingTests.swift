import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Writes of a replica")
struct WritingTests {
    @Test("a write is appended and sent; writes during the request share one upload")
    func coalescing() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        #expect(bench.set("a", "2") == ["append a=2 pending"])
        #expect(bench.set("b", "1") == ["append b=1 pending"])
        #expect(bench.set("a", "3") == ["append a=3 pending"])
        // Only the first value is acknowledged; the newer ones are still pending.
        #expect(bench.answer(cursor: 1) == ["state e 1", "send e 1 b a"])
        #expect(bench.pendingKeys == ["a", "b"])
        #expect(bench.answer(cursor: 3).sorted() == ["acknowledged a", "acknowledged b", "state e 3"])
        #expect(bench.pendingKeys == [])
        #expect(bench.values == ["a": "3", "b": "1"])
    }

    @Test("setting an equal value and removing a missing key do nothing")
    func noChange() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        let before = bench.replica
        #expect(bench.set("a", "1") == [])
        #expect(bench.set("b", nil) == [])
        #expect(bench.replica == before)
        _ = bench.set("a", nil)
        _ = bench.answer(cursor: 2)
        let removed = bench.replica
        #expect(bench.set("a", nil) == [])
        #expect(bench.replica == removed)
    }

    @Test("a local write supersedes everything observed before, whatever the clock says")
    func monotonic() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        _ = bench.answer(cursor: 5, [.other("a", "theirs", at: 1_040_000)])
        bench.now.wall = 10
        _ = bench.set("a", "mine")
        _ = bench.set("a", "mine again")
        let record = bench.records.first { $0.key == "a" }!
        #expect(record.stamp.milliseconds >= 1_040_000)
        #expect(bench.values == ["a": "mine again"])
        _ = bench.answer(cursor: 5, [.other("a", "theirs", at: 1_040_000)])
        #expect(bench.values == ["a": "mine again"])
    }

    @Test("every write supersedes what it replaces, even after rejections and clock steps", arguments: 1...50)
    func stamps(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bench = ReplicaBench.joined()
        var newest: [StoreKey: StoreRecord] = [:]
        for step in 0..<200 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bench.now.wall += Int64.random(in: -400_000...400_000, using: &random)
            case 1:
                bench.now.monotonic += 60_000
                _ = bench.handle(.woke)
                let ahead = Int64.random(in: -300_000...300_000, using: &random)
                let rejections = bench.clockRejections(ahead: ahead).filter { _ in
                    Bool.random(using: &random)
                }
                _ = bench.answer(cursor: UInt64(step), rejections: rejections, ahead: ahead)
                for record in bench.records { newest[record.key] = record }
            default:
                let key = (["a", "b", "c"] as [StoreKey]).randomElement(using: &random)!
                _ = bench.set(key, "\(step)")
                let record = bench.records.first { $0.key == key }!
                if let before = newest[key] {
                    #expect(record.supersedes(before), "seed \(seed), step \(step)")
                }
                newest[key] = record
            }
        }
    }

    @Test("without an account writes are provisional and nothing is sent")
    func local() {
        var bench = ReplicaBench()
        #expect(bench.set("a", "1") == ["append a=1 provisional"])
        #expect(bench.synchronize() == ["finish 1: no account is joined"])
        #expect(bench.replica.connection == .local)
    }

    @Test("a request contains the oldest writes, as many as fit into a page")
    func pages() {
        var bench = ReplicaBench.joined(limits: StoreLimits(keyCount: 5_000))
        _ = bench.set("first", "1")
        for number in 0..<2_500 { _ = bench.set("key \(number)", "\(number)") }
        var counts: [Int] = []
        while let request = bench.request {
            counts.append(request.changes.count)
            #expect(request.changes.map(\.stamp) == request.changes.map(\.stamp).sorted())
            _ = bench.answer(cursor: UInt64(counts.count))
        }
        #expect(counts == [1, 1_000, 1_000, 500])
        _ = bench.set("first", "2")
        let large = String(repeating: "x", count: 500_000)
        for number in 0..<2 { _ = bench.set("large \(number)", large) }
        counts = []
        while let request = bench.request {
            counts.append(request.changes.count)
            _ = bench.answer(cursor: 10 + UInt64(counts.count))
        }
        #expect(counts == [1, 2])
    }
}
