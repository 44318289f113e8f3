import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Unusual answers")
struct OddAnswerTests {
    private func live() -> ReplicaBench {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 4, isInitial: true)
        _ = bench.receive(.opened)
        return bench
    }

    @Test(
        "an invalid change ends its stream: it is not applied, and the cursor stays",
        arguments: [
            SequencedRecord.other("", nil, sequence: 5), .other("", "1", sequence: 5),
            .other(.long, "1", sequence: 5),
        ])
    func invalidChange(_ change: SequencedRecord) {
        var bench = live()
        let lines = bench.receive(.change(change))
        #expect(lines.count == 2 && lines[0] == "close stream")
        #expect(lines.last?.hasPrefix("wake in ") == true)
        #expect(bench.values == [:])
        #expect(bench.replica.state.cursor == SyncCursor(epoch: "e", sequence: 4))
        #expect(bench.replica.connection != .connected)
        // The next request continues from the cursor, and the stream is reopened.
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 4"])
        #expect(bench.answer(cursor: 4) == ["open stream e 4"])
    }

    @Test("an answer with one invalid change applies nothing and acknowledges nothing")
    func invalidAnswer() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        let own = SequencedRecord(record: bench.records[0], sequence: 1)
        let invalid = SequencedRecord.other("", nil, sequence: 3)
        let lines = bench.answer(cursor: 3, [own, .other("b", "1", sequence: 2), invalid])
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.values == ["a": "1"])
        #expect(bench.pendingKeys == ["a"])
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
    }

    @Test("a first page with an invalid key is an error that stores nothing")
    func invalidFirstPage() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        let lines = bench.answer(cursor: 1, isInitial: true, hasMore: true, [.other(.long, "1", sequence: 1)])
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.values == [:])
    }

    @Test("a change that the daemon wants again is sent at once, and stays pending until then")
    func again() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(bench.answer(rejections: bench.rejections(.again)) == ["send e 0 a"])
        #expect(bench.pendingKeys == ["a"])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1"])
    }

    @Test("a change rejected for its key waits for a synchronize call")
    func rejectedKey() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(bench.answer(rejections: bench.rejections(.key(limit: 128))) == [])
        #expect(bench.set("b", "1") == ["append b=1 pending", "send e 0 b"])
        _ = bench.answer(cursor: 1)
        #expect(bench.pendingKeys == ["a"])
        #expect(bench.synchronize() == ["send e 1 a"])
    }

    @Test("a rejected key is sent again after its next write")
    func rewritten() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(bench.answer(rejections: bench.rejections(.quota(limit: 9))) == ["notify 2 a"])
        #expect(bench.set("a", "2") == ["append a=2 pending", "send e 0 a"])
    }
}
