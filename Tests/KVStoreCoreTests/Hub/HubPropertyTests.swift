import Foundation
import KVStore
import Testing

/// Generated histories of one store.
@Suite("Hub, generated")
struct HubPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 0xC0DE, UInt64.random(in: 0...UInt64.max)]

    private func changes(_ count: Int, _ random: inout SplitMix64) -> [SyncChange] {
        (0..<count).map { _ in
            Samples.change(
                "k\(Int.random(in: 0..<12, using: &random))",
                Samples.stamp(
                    Int64.random(in: -50...50, using: &random),
                    UInt32.random(in: 0...1, using: &random),
                    replica: UInt64.random(in: 1...3, using: &random)),
                Int.random(in: 0..<4, using: &random) == 0
                    ? nil : String(repeating: "v", count: Int.random(in: 0...9, using: &random)))
        }
    }

    @Test("two hubs fed the same changes in any order and grouping hold the same", arguments: seeds)
    func converges(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let all = changes(200, &random)
        var left = Hub(epoch: "e")
        for change in all { _ = left.apply(Samples.request([change])) }
        var right = Hub(epoch: "e")
        var rest = all.shuffled(using: &random)[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...20, using: &random)
            _ = right.apply(Samples.request(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        #expect(left.winners == right.winners, "seed \(seed)")
    }

    @Test("the counters equal a recount after every request", arguments: seeds)
    func counters(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        for _ in 0..<60 {
            let batch = changes(Int.random(in: 0...6, using: &random), &random)
            _ = hub.apply(Samples.request(batch))
            let values = hub.entries.values.filter { $0.record.content != .tombstone }
            #expect(hub.keyCount == values.count, "seed \(seed)")
            #expect(
                hub.byteCount == values.reduce(0) { $0 + $1.record.content.byteCount },
                "seed \(seed)")
        }
    }

    @Test("the same request again changes nothing and gives the same records", arguments: seeds)
    func idempotent(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request(changes(50, &random)))
        let request = Samples.request(changes(20, &random))
        _ = hub.apply(request)
        let once = hub
        _ = hub.apply(request)
        #expect(hub == once, "seed \(seed)")
    }

    @Test(
        "pages one behind the other are the whole, ascending and without a double", arguments: seeds
    )
    func pages(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        let value = String(repeating: "v", count: 9_000)
        for index in 0..<900 {
            let key = "key \(Int.random(in: 0..<450, using: &random))"
            _ = hub.apply(
                Samples.request([Samples.change(key, Samples.stamp(Int64(index)), value)]))
        }
        var told: [SyncChange] = []
        var response = hub.apply(Samples.request())
        #expect(response.initial && response.more, "seed \(seed)")
        told += response.changes
        while response.more {
            response = hub.apply(
                Samples.request(epoch: response.epoch, since: response.cursor))
            #expect(!response.initial)
            told += response.changes
        }
        let sequences = told.compactMap(\.seq)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        #expect(told.count == hub.entries.count, "seed \(seed)")
        #expect(response.cursor == hub.sequence)
        for change in told { #expect(change.record == hub.winners[change.key]) }
    }

    @Test("a reader at any cursor who reads on knows what the hub knows", arguments: seeds)
    func everyCursor(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        var readers: [(cursor: UInt64, known: [String: Record])] = []
        for _ in 0..<80 {
            _ = hub.apply(Samples.request(changes(3, &random)))
            if Int.random(in: 0..<4, using: &random) == 0 { readers.append((0, [:])) }
            for index in readers.indices where Bool.random(using: &random) {
                let page = hub.page(after: readers[index].cursor, through: hub.sequence)
                for change in page.changes {
                    #expect(change.seq! > readers[index].cursor, "seed \(seed)")
                    readers[index].cursor = change.seq!
                    readers[index].known[change.key] = change.record
                }
                #expect(readers[index].known == hub.winners, "seed \(seed)")
            }
        }
    }
}
