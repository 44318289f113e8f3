import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Epochs of a hub")
struct HubEpochTests {
    @Test("an earlier epoch continues into the present one up to its end, and not beyond")
    func lineage() {
        var hub = Hub(epoch: "first")
        hub.load(Hub.State(epochs: [Hub.Epoch(id: "first", start: 0), Hub.Epoch(id: "second", start: 5)], sequence: 8))
        func first(_ sequence: UInt64) -> SyncCursor { SyncCursor(epoch: "first", sequence: sequence) }
        func second(_ sequence: UInt64) -> SyncCursor { SyncCursor(epoch: "second", sequence: sequence) }
        #expect(hub.end == second(8))
        #expect(!hub.startsOver(since: first(5)))
        #expect(hub.startsOver(since: first(6)))
        #expect(!hub.startsOver(since: second(8)))
        #expect(hub.startsOver(since: second(9)))
        #expect(hub.startsOver(since: SyncCursor(epoch: "third", sequence: 0)))
        #expect(hub.endsStream(at: first(5)))
        #expect(!hub.endsStream(at: second(5)))
        #expect([5, 6, 8].map { hub.epochCursor(at: $0) } == [first(5), second(6), second(8)])
    }
}
