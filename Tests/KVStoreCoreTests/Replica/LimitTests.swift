import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Limits of a replica")
struct LimitTests {
    private func write(
        _ bench: inout ReplicaBench, _ key: StoreKey, byteCount: Int
    ) -> (notified: [StoreChange], code: StoreError.Code?) {
        let (ready, violation) = bench.replica.write([key: .value(Data(count: byteCount))], at: bench.now)
        return (ready.notifications, violation?.code)
    }

    @Test("a value of 1,048,576 bytes is stored; a larger one is dropped and notified with reason 2")
    func oneValue() {
        var bench = ReplicaBench.joined()
        #expect(write(&bench, "a", byteCount: 1_048_576).code == nil)
        var other = ReplicaBench.joined()
        _ = write(&other, "a", byteCount: 10)
        let before = other.replica
        let (notified, code) = write(&other, "a", byteCount: 1_048_577)
        #expect(code == .quotaExceeded)
        #expect(notified == [StoreChange(reason: .quotaViolationChange, keys: ["a"])])
        #expect(other.replica == before)
    }

    @Test("the values may total 1,048,576 bytes; keys do not count")
    func total() {
        var bench = ReplicaBench.joined()
        let long = StoreKey(String(repeating: "k", count: 128))
        #expect(write(&bench, long, byteCount: 1_000_000).code == nil)
        #expect(write(&bench, "b", byteCount: 48_577).code == .quotaExceeded)
        #expect(write(&bench, "b", byteCount: 48_576).code == nil)
        #expect(bench.replica.table.byteCount == 1_048_576)
        #expect(write(&bench, "c", byteCount: 1).code == .quotaExceeded)
        #expect(write(&bench, "c", byteCount: 0).code == nil)
        // A value of the same size does not grow the total.
        #expect(write(&bench, "b", byteCount: 48_576).code == nil)
        _ = bench.set("b", nil)
        #expect(bench.replica.table.byteCount == 1_000_000)
        #expect(write(&bench, "c", byteCount: 48_576).code == nil)
    }

    @Test("1,024 keys may have values; removed ones do not count")
    func keys() {
        var bench = ReplicaBench.joined()
        for number in 0..<1_024 {
            #expect(write(&bench, "key \(number)", byteCount: 1).code == nil)
        }
        let (notified, code) = write(&bench, "one more", byteCount: 1)
        #expect(code == .tooManyKeys)
        #expect(notified == [StoreChange(reason: .quotaViolationChange, keys: ["one more"])])
        #expect(write(&bench, "key 7", byteCount: 2).code == nil)
        _ = bench.set("key 0", nil)
        #expect(write(&bench, "one more", byteCount: 1).code == nil)
        #expect(write(&bench, "key 0", byteCount: 1).code == .tooManyKeys)
        #expect(bench.replica.table.keyCount == 1_024)
    }

    @Test("a store that others filled past its quota accepts writes that shrink it")
    func shrinking() {
        var bench = ReplicaBench.joined(limits: StoreLimits(totalByteCount: 10, valueByteCount: 8, keyCount: 2))
        _ = bench.synchronize()
        _ = bench.answer(
            cursor: 9,
            [
                .other("a", "123456789012"), .other("b", "1234567890"), .other("c", "1"),
                .other("d", "1"),
            ])
        #expect(bench.replica.table.byteCount == 24)
        #expect(write(&bench, "a", byteCount: 13).code == .quotaExceeded)
        #expect(write(&bench, "a", byteCount: 11).code == nil)
        #expect(write(&bench, "d", byteCount: 2).code == .quotaExceeded)
        #expect(write(&bench, "e", byteCount: 0).code == .quotaExceeded)
        _ = bench.set("a", nil)
        #expect(bench.replica.table.byteCount == 12)
    }

    @Test("a key has 1 to 128 UTF-16 units, in the classic profile 1 to 64 UTF-8 bytes")
    func keyLengths() {
        let rows: [(KeyProfile, StoreKey, Bool)] = [
            (.standard, "", false), (.standard, StoreKey(String(repeating: "k", count: 128)), true),
            (.standard, StoreKey(String(repeating: "k", count: 129)), false),
            (.standard, StoreKey(String(repeating: "😀", count: 64)), true),
            (.standard, StoreKey(String(repeating: "😀", count: 64) + "k"), false),
            (.standard, StoreKey(String(repeating: "日", count: 128)), true),
            (.classic, "", false), (.classic, StoreKey(String(repeating: "k", count: 64)), true),
            (.classic, StoreKey(String(repeating: "k", count: 65)), false),
            (.classic, StoreKey(String(repeating: "é", count: 32)), true),
            (.classic, StoreKey(String(repeating: "é", count: 32) + "k"), false),
        ]
        for (profile, key, isAllowed) in rows {
            var bench = ReplicaBench.joined(limits: StoreLimits(keyProfile: profile))
            let (notified, code) = write(&bench, key, byteCount: 1)
            let length = profile.length(of: key)
            #expect(code == (isAllowed ? nil : .invalidKey), "\(profile), \(length) units")
            #expect(notified.isEmpty)
            #expect(bench.replica.table.keyCount == (isAllowed ? 1 : 0))
        }
    }

    @Test("a quota error names the limit, the size and the bytes in use")
    func message() throws {
        var bench = ReplicaBench.joined()
        _ = write(&bench, "a", byteCount: 1_000_000)
        let (_, violation) = bench.replica.write(["b": .value(Data(count: 50_000))], at: bench.now)
        let text = try #require(violation).description
        for part in ["key b", "50000", "1050000", "1048576", "1000000 in use"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("the counters equal a recount after any writes and downloads", arguments: 1...30)
    func counters(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bench = ReplicaBench.joined(limits: StoreLimits(totalByteCount: 200, valueByteCount: 60, keyCount: 6))
        for step in 0..<300 {
            let key: StoreKey = "k\(Int.random(in: 0..<9, using: &random))"
            let size = Int.random(in: 0...70, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = bench.set(key, nil)
            case 1:
                _ = bench.synchronize()
                _ = bench.answer(
                    cursor: UInt64(step),
                    [.other(key, size > 60 ? nil : String(repeating: "x", count: size), at: 1_000_000 + Int64(step))])
            default:
                let before = bench.replica.table.byteCount
                let (_, code) = write(&bench, key, byteCount: size)
                let after = bench.replica.table.byteCount
                #expect(code == nil ? after <= max(200, before) : after == before)
            }
            let contents = bench.replica.visibleContents
            #expect(bench.replica.table.keyCount == contents.count)
            #expect(bench.replica.table.byteCount == contents.values.reduce(0) { $0 + $1.byteCount })
        }
    }
}
