import Foundation
import KVStore
import Testing

@Suite("Hub")
struct HubTests {
    @Test(
        "a stamp more than a minute ahead is refused with the limit and the stamp, an earlier one not"
    )
    func future() {
        var hub = Hub(epoch: "e")
        let late = Samples.change("a", Samples.stamp(60_001))
        let response = hub.apply(
            Samples.request([late, Samples.change("b", Samples.stamp(60_000))]))
        #expect(
            response.rejected == [
                SyncRejection(
                    key: "a", reason: SyncRejection.clock, limit: Samples.now + 60_000,
                    stamp: late.stamp)
            ])
        #expect(Set(hub.entries.keys) == ["b"])
    }

    @Test(
        "a change without a usable key, stamp or content is refused as a key",
        arguments: [
            Samples.change(""), Samples.change(String(repeating: "k", count: 129)),
            SyncChange(key: "a", stamp: "not a stamp", value: Data()),
            SyncChange(key: "a", stamp: Samples.stamp().description),
            SyncChange(
                key: "a", stamp: Samples.stamp().description, value: Data(), deleted: true),
        ])
    func badChange(change: SyncChange) {
        var hub = Hub(epoch: "e")
        let response = hub.apply(Samples.request([change]))
        #expect(response.rejected.map(\.reason) == [SyncRejection.key])
        #expect(response.rejected.first?.stamp == change.stamp)
        #expect(hub.entries.isEmpty && hub.sequence == 0)
    }

    @Test("a value of 1,048,576 bytes is taken and one byte more is not")
    func largestValue() {
        var hub = Hub(epoch: "e")
        let fits = String(repeating: "v", count: 1_048_576)
        let response = hub.apply(
            Samples.request([
                Samples.change("fits", Samples.stamp(), fits),
                Samples.change("not", Samples.stamp(), fits + "v"),
            ]))
        #expect(response.rejected.map(\.key) == ["not"])
        #expect(response.rejected.first?.limit == 1_048_576)
        #expect(hub.byteCount == 1_048_576)
    }

    @Test("a full store refuses what grows and takes what shrinks")
    func ceiling() {
        var hub = Hub(epoch: "e")
        let large = String(repeating: "v", count: 1_048_576)
        let fill = (0..<4).map { Samples.change("k\($0)", Samples.stamp(), large) }
        #expect(hub.apply(Samples.request(fill)).rejected.isEmpty)
        let grown = hub.apply(Samples.request([Samples.change("new", Samples.stamp(), "v")]))
        #expect(grown.rejected.map(\.limit) == [4_194_304])
        let shrunk = hub.apply(
            Samples.request([Samples.change("k0", Samples.stamp(1), "small")]))
        #expect(shrunk.rejected.isEmpty)
        #expect(
            hub.apply(Samples.request([Samples.change("new", Samples.stamp(), "v")])).rejected
                .isEmpty)
    }

    @Test("a store takes 4,096 keys, removals beside them, and no more")
    func keyCeiling() {
        var hub = Hub(epoch: "e")
        for start in stride(from: 0, to: 4_096, by: 512) {
            let batch = (start..<start + 512).map { Samples.change("k\($0)") }
            #expect(hub.apply(Samples.request(batch)).rejected.isEmpty)
        }
        let response = hub.apply(
            Samples.request([
                Samples.change("gone", Samples.stamp(), nil), Samples.change("one more"),
            ]))
        #expect(response.rejected.map(\.key) == ["one more"])
        #expect(response.rejected.first?.limit == 4_096)
        #expect(hub.keyCount == 4_096)
    }

    @Test("a loser changes nothing and is told the winner")
    func loser() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.change("a", Samples.stamp(5), "winner")]))
        let before = hub
        let response = hub.apply(
            Samples.request([Samples.change("a", Samples.stamp(), "loser")], epoch: "e", since: 1))
        #expect(hub == before)
        #expect(response.changes.map(\.stamp) == [Samples.stamp(5).description])
        #expect(response.changes.first?.seq == 1)
        #expect(response.rejected.isEmpty)
    }

    @Test("what the request itself brought is not sent back")
    func echo() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.change("a")]))
        let response = hub.apply(Samples.request([Samples.change("b"), Samples.change("a")]))
        #expect(response.changes.isEmpty)
        #expect(response.cursor == 2)
    }

    @Test("another epoch, a cursor from the future or one below the horizon start over")
    func startsOver() {
        var hub = Hub(epoch: "e")
        _ = hub.apply(Samples.request([Samples.change("a"), Samples.change("b")]))
        #expect(hub.apply(Samples.request(epoch: nil, since: 1)).initial)
        #expect(hub.apply(Samples.request(epoch: "other", since: 1)).initial)
        #expect(hub.apply(Samples.request(epoch: "e", since: 3)).initial)
        #expect(!hub.apply(Samples.request(epoch: "e", since: 1)).initial)
        hub.load(epochs: [], sequence: 2, horizon: 2, clockMilliseconds: 0)
        let response = hub.apply(Samples.request(epoch: "e", since: 1))
        #expect(response.initial)
        #expect(response.changes.count == 2)
        #expect(!hub.apply(Samples.request(epoch: "e", since: 2)).initial)
    }
}
