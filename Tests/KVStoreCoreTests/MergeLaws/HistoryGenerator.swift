import Foundation
import StoreTestSupport

@testable import KVStoreCore

/// What several devices may have written: with wrong clocks, devices that sometimes learn of each
/// other's stamps, a copied directory, and another content under an existing stamp.
struct HistoryGenerator {
    /// In the order in which they were written.
    private(set) var records: [StoreRecord] = []
    private var random: SeededGenerator

    private struct Writer {
        var clock = HybridClock()
        var id: ReplicaID
        var skew: Int64
    }

    static let keys: [StoreKey] = ["a", "b", "c"]
    /// The daemon accepts stamps up to a minute ahead; skews stay below, so it rejects none.
    static let time: Int64 = 1_789_732_800_000

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var writers = (0..<Int.random(in: 2...4, using: &random)).map { _ in newWriter() }
        var now = Self.time
        for _ in 0..<Int.random(in: 6...16, using: &random) {
            now += Int64.random(in: 0...2, using: &random)
            let index = Int.random(in: 0..<writers.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // A copy of the directory: two writers with one id and one clock from now on.
                var copy = writers[index]
                copy.skew = writers[index].skew
                writers.append(copy)
            case 1, 2:
                if let seen = records.randomElement(using: &random) {
                    writers[index].clock.observe(seen.stamp)
                }
            case 3: adoptStamp()
            default:
                let stamp = writers[index].clock.next(now: now + writers[index].skew, replica: writers[index].id)
                records.append(StoreRecord(key: newKey(), stamp: stamp, content: newContent()))
            }
        }
        if records.isEmpty { adoptStamp() }
    }

    private mutating func newWriter() -> Writer {
        Writer(
            id: ReplicaID(rawValue: random.next() >> UInt64.random(in: 0...63, using: &random)),
            skew: Int64.random(in: -3...3, using: &random) * [0, 1, 10_000].randomElement(using: &random)!)
    }

    private mutating func newKey() -> StoreKey { Self.keys.randomElement(using: &random)! }

    /// Few and similar: equal bytes, prefixes of each other and removals are common.
    private mutating func newContent() -> StoreRecord.Content {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return .tombstone }
        let count = Int.random(in: 0...2, using: &random)
        return .value(Data((0..<count).map { _ in [0, 1, 127, 128, 255].randomElement(using: &random)! }))
    }

    /// Another content under an existing stamp, as a damaged or copied file yields it.
    private mutating func adoptStamp() {
        let former = records.randomElement(using: &random)
        records.append(
            StoreRecord(
                key: former?.key ?? newKey(),
                stamp: former?.stamp
                    ?? StoreStamp(milliseconds: Self.time, counter: 0, replica: ReplicaID(rawValue: 0)),
                content: newContent()))
    }

    /// The history in an order in which a network may deliver it: any, with repetitions.
    mutating func delivery() -> [StoreRecord] {
        let again = records.filter { _ in Bool.random(using: &random) }
        return (records + again).shuffled(using: &random)
    }

    /// Cuts a delivery into messages.
    mutating func messages(_ delivery: [StoreRecord]) -> [[StoreRecord]] {
        var messages: [[StoreRecord]] = []
        var rest = delivery[...]
        while !rest.isEmpty {
            let message = rest.prefix(Int.random(in: 1...4, using: &random))
            rest = rest.dropFirst(message.count)
            messages.append(Array(message))
        }
        return messages
    }
}
