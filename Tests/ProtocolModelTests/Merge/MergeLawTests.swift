import Foundation
import Testing

@testable import KVStore

@Suite("Laws of the merge, over generated histories")
struct MergeLawTests {
    private func merge(_ left: Record, _ right: Record) -> Record {
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

    @Test("taking the greater is commutative, associative and idempotent")
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

    @Test("maximum, hub and replica find the winner of a plain fold, in any order and repetition")
    func oneWinner() throws {
        try HistorySeeds.each(1_500, of: "one winner") { seed in
            var history = HistoryGenerator(seed: seed)
            var winners: [String: HistoryRecord] = [:]
            for key in HistoryGenerator.keys {
                let records = history.records.filter { $0.key == key }
                winners[key] = HistoryRecord.winner(of: records.map { HistoryRecord($0) })
            }
            var bench = ReceivingReplica()
            for _ in 0..<2 {
                let delivery = history.delivery()
                var folded: [String: Record] = [:]
                for record in delivery {
                    folded[record.key] = folded[record.key].map { merge($0, record) } ?? record
                }
                try expect(folded, winners, "fold", seed)

                var hub = Hub(epoch: "epoch")
                for message in history.messages(delivery) {
                    let plan = hub.plan(message.map { SyncChange($0) }, now: HistoryGenerator.time)
                    if !plan.rejected.isEmpty {
                        throw HistoryFailure("the daemon refused a record", seed)
                    }
                    hub.commit(plan)
                }
                try expect(hub.entries.mapValues(\.record), winners, "hub", seed)

                // The second delivery meets what the first one left: nothing may change.
                for message in history.messages(delivery) { bench.receive(message) }
                try expect(bench.records, winners, "replica", seed)
            }
        }
    }

    private func expect(
        _ records: [String: Record], _ winners: [String: HistoryRecord], _ place: String,
        _ seed: UInt64
    ) throws {
        let found = records.mapValues { HistoryRecord($0) }
        if found != winners {
            throw HistoryFailure("\(place): \(found), not \(winners)", seed)
        }
    }

    @Test("a winner reaches a third device with the stamp and bytes that its writer gave it")
    func neverRestamped() throws {
        try HistorySeeds.each(700, of: "never restamped") { seed in
            var history = HistoryGenerator(seed: seed)
            let written = Set(history.records.map { HistoryRecord($0) })
            var hub = Hub(epoch: "epoch")
            // Each record comes through a device that passes on what its log says.
            for message in history.messages(history.delivery()) {
                var relay = ReceivingReplica(id: 5)
                relay.receive(message)
                var restarted = Replica(
                    id: relay.replica.id, limits: StoreLimits(), seed: 1)
                for entry in relay.replica.entries { _ = restarted.replay(entry) }
                let records = restarted.records.map { SyncChange($0) }
                hub.commit(hub.plan(records, now: HistoryGenerator.time))
            }
            var third = ReceivingReplica(id: 6)
            let page = hub.page(after: 0, through: hub.sequence)
            third.receive(page.changes.compactMap(\.record))
            let arrived = third.records.mapValues { HistoryRecord($0) }
            if !Set(arrived.values).isSubset(of: written) {
                throw HistoryFailure("a record that nobody wrote", seed)
            }
            if arrived != hub.entries.mapValues({ HistoryRecord($0.record) }) {
                throw HistoryFailure("the third device has others", seed)
            }
        }
    }
}
