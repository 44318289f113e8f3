import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Generated histories of a hub")
struct HubPropertyTests {
    private static let seeds: [UInt64] = [1, 2, 3, 0xC0DE, UInt64.random(in: 0...UInt64.max)]

    private func changes(_ count: Int, _ random: inout SplitMix64) -> [StoreRecord] {
        (0..<count).map { _ in
            Samples.record(
                "k\(Int.random(in: 0..<12, using: &random))",
                Samples.stamp(
                    Int64.random(in: -50...50, using: &random), UInt32.random(in: 0...1, using: &random),
                    replica: UInt64.random(in: 1...3, using: &random)),
                Int.random(in: 0..<4, using: &random) == 0
                    ? nil : String(repeating: "v", count: Int.random(in: 0...9, using: &random)))
        }
    }

    @Test("two hubs converge on the same records in any order and grouping of the changes", arguments: seeds)
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
        #expect(left.records == right.records, "seed \(seed)")
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
            #expect(hub.byteCount == values.reduce(0) { $0 + $1.record.content.byteCount }, "seed \(seed)")
        }
    }

    @Test("a repeated request changes nothing", arguments: seeds)
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

    @Test("consecutive pages contain every record once, in ascending order", arguments: seeds)
    func pages(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        let value = String(repeating: "v", count: 9_000)
        for index in 0..<900 {
            let key: StoreKey = "key \(Int.random(in: 0..<450, using: &random))"
            _ = hub.apply(Samples.request([Samples.record(key, Samples.stamp(Int64(index)), value)]))
        }
        var received: [SequencedRecord] = []
        var response = hub.apply(Samples.request())
        #expect(response.isInitial && response.hasMore, "seed \(seed)")
        received += response.changes
        while response.hasMore {
            response = hub.apply(Samples.request(since: response.cursor))
            #expect(!response.isInitial)
            received += response.changes
        }
        let sequences = received.map(\.sequence)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        #expect(received.count == hub.entries.count, "seed \(seed)")
        #expect(response.cursor == hub.end)
        for change in received { #expect(change.record == hub.records[change.record.key]) }
    }

    @Test("a reader that continues from any cursor ends with the records of the hub", arguments: seeds)
    func everyCursor(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var hub = Hub(epoch: "e")
        var readers: [(cursor: UInt64, known: [StoreKey: StoreRecord])] = []
        for _ in 0..<80 {
            _ = hub.apply(Samples.request(changes(3, &random)))
            if Int.random(in: 0..<4, using: &random) == 0 { readers.append((0, [:])) }
            for index in readers.indices where Bool.random(using: &random) {
                let page = hub.page(after: readers[index].cursor, through: hub.sequence)
                for change in page.changes {
                    #expect(change.sequence > readers[index].cursor, "seed \(seed)")
                    readers[index].cursor = change.sequence
                    readers[index].known[change.record.key] = change.record
                }
                #expect(readers[index].known == hub.records, "seed \(seed)")
            }
        }
    }
}
