import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Hub")
struct HubTests {
    private func cursor(_ sequence: UInt64) -> SyncCursor { SyncCursor(epoch: "e", sequence: sequence) }

    @Test("a stamp more than a minute ahead is rejected with the limit and the stamp")
    func future() {
        var hub = Hub(epoch: "e")
        let late = Samples.record("a", Samples.stamp(60_001))
        let response = hub.apply(Samples.request([late, Samples.record("b", Samples.stamp(60_000))]))
        #expect(response.rejections == [SyncRejection(late, .clock(limit: Samples.now + 60_000, present: nil))])
        #expect(response.rejections.first?.stamp == late.stamp)
        #expect(Set(hub.entries.keys) == ["b"])
    }

    @Test("a rejection for the clock names the stamp that the hub holds")
    func futureOverPresent() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.record("a")]))
        let late = Samples.record("a", Samples.stamp(60_001))
        #expect(
            hub.apply(Samples.request([late])).rejections == [
                SyncRejection(late, .clock(limit: Samples.now + 60_000, present: Samples.stamp()))
            ])
    }

    @Test("a change of an invalid key is rejected", arguments: ["", StoreKey(String(repeating: "k", count: 129))])
    func invalidKey(key: StoreKey) {
        var hub = Hub(epoch: "e")
        let record = Samples.record(key)
        let response = hub.apply(Samples.request([record]))
        #expect(response.rejections.map(\.reason) == [.key(limit: 128)])
        #expect(response.rejections.first?.stamp == record.stamp)
        #expect(hub.entries.isEmpty && hub.sequence == 0)
    }

    @Test("a value of 1,048,576 bytes and its encoding are accepted, a larger one rejected")
    func largestValue() {
        var hub = Hub(epoch: "e")
        let fits = String(repeating: "v", count: 1_048_640)
        let response = hub.apply(
            Samples.request([
                Samples.record("fits", Samples.stamp(), fits), Samples.record("not", Samples.stamp(), fits + "v"),
            ]))
        #expect(response.rejections.map(\.key) == ["not"])
        #expect(response.rejections.map(\.reason) == [.quota(limit: 1_048_640)])
        #expect(hub.byteCount == 1_048_640)
    }

    @Test("a full store rejects values that grow it and accepts values that shrink it")
    func ceiling() {
        var hub = Hub(epoch: "e")
        let large = String(repeating: "v", count: 1_048_576)
        let fill = (0..<4).map { Samples.record("k\($0)", Samples.stamp(), large) }
        #expect(hub.apply(Samples.request(fill)).rejections.isEmpty)
        let grown = hub.apply(Samples.request([Samples.record("new", Samples.stamp(), "v")]))
        #expect(grown.rejections.map(\.reason) == [.quota(limit: 4_194_304)])
        let shrunk = hub.apply(Samples.request([Samples.record("k0", Samples.stamp(1), "small")]))
        #expect(shrunk.rejections.isEmpty)
        #expect(hub.apply(Samples.request([Samples.record("new", Samples.stamp(), "v")])).rejections.isEmpty)
    }

    @Test("a store holds 4,096 keys, besides any tombstones, and rejects another one")
    func keyCeiling() {
        var hub = Hub(epoch: "e")
        for start in stride(from: 0, to: 4_096, by: 512) {
            let batch = (start..<start + 512).map { Samples.record("k\($0)") }
            #expect(hub.apply(Samples.request(batch)).rejections.isEmpty)
        }
        let response = hub.apply(
            Samples.request([Samples.record("gone", Samples.stamp(), nil), Samples.record("one more")]))
        #expect(response.rejections.map(\.key) == ["one more"])
        #expect(response.rejections.map(\.reason) == [.quota(limit: 4_096)])
        #expect(hub.keyCount == 4_096)
    }

    @Test("a superseded change has no effect, and the answer contains the winner")
    func superseded() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.record("a", Samples.stamp(5), "winner")]))
        let before = hub
        let response = hub.apply(Samples.request([Samples.record("a", Samples.stamp(), "loser")], since: cursor(1)))
        #expect(hub == before)
        #expect(response.changes.map(\.record.stamp) == [Samples.stamp(5)])
        #expect(response.changes.first?.sequence == 1)
        #expect(response.rejections.isEmpty)
    }

    @Test("an answer does not repeat the changes of its request")
    func echo() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.record("a")]))
        let response = hub.apply(Samples.request([Samples.record("b"), Samples.record("a")]))
        #expect(response.changes.isEmpty)
        #expect(response.cursor.sequence == 2)
    }

    @Test("an unknown epoch, a future cursor and one below the horizon start over")
    func startsOver() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.record("a"), Samples.record("b")]))
        #expect(hub.apply(Samples.request()).isInitial)
        let other = SyncCursor(epoch: "other", sequence: 1)
        #expect(hub.apply(Samples.request(since: other)).isInitial)
        #expect(hub.apply(Samples.request(since: cursor(3))).isInitial)
        #expect(!hub.apply(Samples.request(since: cursor(1))).isInitial)
        hub.load(Hub.State(epochs: [], sequence: 2, horizon: 2))
        let response = hub.apply(Samples.request(since: cursor(1)))
        #expect(response.isInitial)
        #expect(response.changes.count == 2)
        #expect(!hub.apply(Samples.request(since: cursor(2))).isInitial)
    }
}
