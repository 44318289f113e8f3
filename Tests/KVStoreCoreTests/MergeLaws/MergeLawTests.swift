import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Laws of the merge, over generated histories")
struct MergeLawTests {
    private func merge(_ left: StoreRecord, _ right: StoreRecord) -> StoreRecord {
        right.supersedes(left) ? right : left
    }

    @Test("supersedes is a strict total order, and the one that the protocol describes")
    func order() throws {
        try HistorySeeds.each(1_500, of: "order") { seed in
            let records = HistoryGenerator(seed: seed).records
            for left in records {
                if left.supersedes(left) { throw HistoryFailure("\(left) over itself", seed) }
                for right in records where right.key == left.key {
                    let isGreater = left.supersedes(right)
                    let isSame = left.stamp == right.stamp && left.content == right.content
                    let isTotal = isSame ? !isGreater : isGreater != right.supersedes(left)
                    let expected = HistoryRecord(left).isGreater(than: HistoryRecord(right))
                    if !isTotal || isGreater != expected {
                        throw HistoryFailure("\(left) and \(right)", seed)
                    }
                }
            }
        }
    }

    @Test("merging is commutative, associative and idempotent")
    func laws() throws {
        try HistorySeeds.each(1_000, of: "laws") { seed in
            let all = HistoryGenerator(seed: seed).records
            for key in HistoryGenerator.keys {
                let records = all.filter { $0.key == key }.prefix(6)
                for a in records {
                    if merge(a, a) != a { throw HistoryFailure("idempotent", seed) }
                    for b in records {
                        let ab = merge(a, b)
                        if ab != merge(b, a) {
                            throw HistoryFailure("commutative", seed)
                        }
                        for c in records where merge(ab, c) != merge(a, merge(b, c)) {
                            throw HistoryFailure("associative", seed)
                        }
                    }
                }
            }
        }
    }

    @Test("fold, hub and replica agree on the greatest record in any order and with repetitions")
    func oneWinner() throws {
        try HistorySeeds.each(1_500, of: "one winner") { seed in
            var history = HistoryGenerator(seed: seed)
            var winners: [StoreKey: HistoryRecord] = [:]
            for key in HistoryGenerator.keys {
                let records = history.records.filter { $0.key == key }
                winners[key] = HistoryRecord.winner(of: records.map { HistoryRecord($0) })
            }
            var bench = ReceivingReplica()
            for _ in 0..<2 {
                let delivery = history.delivery()
                var folded: [StoreKey: StoreRecord] = [:]
                for record in delivery {
                    folded[record.key] = folded[record.key].map { merge($0, record) } ?? record
                }
                try expect(folded, winners, "fold", seed)

                var hub = Hub(epoch: "epoch")
                for message in history.messages(delivery) {
                    let plan = hub.plan(message, now: HistoryGenerator.time)
                    if !plan.rejections.isEmpty {
                        throw HistoryFailure("the daemon rejected a record", seed)
                    }
                    hub.commit(plan)
                }
                try expect(hub.entries.mapValues(\.record), winners, "hub", seed)

                // The second delivery meets the result of the first one: nothing may change.
                for message in history.messages(delivery) { bench.receive(message) }
                try expect(bench.records, winners, "replica", seed)
            }
        }
    }

    private func expect(
        _ records: [StoreKey: StoreRecord], _ winners: [StoreKey: HistoryRecord], _ place: String, _ seed: UInt64
    ) throws {
        let found = records.mapValues { HistoryRecord($0) }
        if found != winners {
            throw HistoryFailure("\(place): \(found), not \(winners)", seed)
        }
    }

    @Test("a record reaches a third device with the stamp and bytes of its writer")
    func neverChanged() throws {
        try HistorySeeds.each(700, of: "never changed") { seed in
            var history = HistoryGenerator(seed: seed)
            let written = Set(history.records.map { HistoryRecord($0) })
            var hub = Hub(epoch: "epoch")
            // Each record passes through a device that restarts from its log.
            for message in history.messages(history.delivery()) {
                var relay = ReceivingReplica(id: 5)
                relay.receive(message)
                var restarted = Replica(id: relay.replica.id, limits: StoreLimits(), seed: 1)
                for entry in relay.replica.entries { _ = restarted.replay(entry) }
                let records = restarted.table.entries.values.map(\.record)
                hub.commit(hub.plan(records, now: HistoryGenerator.time))
            }
            var third = ReceivingReplica(id: 6)
            let page = hub.page(after: 0, through: hub.sequence)
            third.receive(page.changes.map(\.record))
            let arrived = third.records.mapValues { HistoryRecord($0) }
            if !Set(arrived.values).isSubset(of: written) {
                throw HistoryFailure("a record without a writer", seed)
            }
            if arrived != hub.entries.mapValues({ HistoryRecord($0.record) }) {
                throw HistoryFailure("the third device has other records", seed)
            }
        }
    }
}
