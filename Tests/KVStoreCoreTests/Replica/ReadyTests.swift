import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Ready")
struct ReadyTests {
    private func content(_ text: String) -> StoreRecord.Content { .value(Data(text.utf8)) }

    @Test("a request with changes needs a sync, a pull does not")
    func mustSync() {
        var bench = ReplicaBench.joined()
        let (pull, _) = bench.replica.synchronize(at: bench.now)
        #expect(pull.request != nil && !pull.mustSync)
        _ = bench.replica.handle(.answered(id: pull.request?.id ?? 0, .failure(.unreachable("lost"))), at: bench.now)
        let (push, _) = bench.replica.write(["a": content("1")], at: bench.now)
        #expect(push.request == nil && !push.mustSync)
        bench.advance(milliseconds: 60_000)
        let retry = bench.replica.handle(.woke, at: bench.now)
        #expect(retry.request?.request.changes.map(\.key) == ["a"])
        #expect(retry.mustSync)
    }

    @Test("the pages of a download need no sync, although writes are pending")
    func downloadWithoutSync() {
        var bench = ReplicaBench()
        _ = bench.set("a", "1")
        let first = bench.replica.handle(.attached(isLive: true), at: bench.now)
        #expect(first.request != nil && !first.mustSync)
    }

    @Test("requests, streams and waiters never share an id")
    func uniqueIDs() {
        var bench = ReplicaBench.joined(isLive: true)
        var ids: [UInt64] = [bench.requestID, bench.streamID]
        for _ in 0..<3 {
            let (ready, waiter) = bench.replica.synchronize(at: bench.now)
            ids += [waiter] + [ready.request?.id].compactMap(\.self)
            _ = bench.replica.handle(
                .answered(id: ready.request?.id ?? 0, .failure(.unreachable("lost"))), at: bench.now)
        }
        #expect(ids.count == 8 && Set(ids).count == ids.count)
    }

    @Test("the answer to an earlier request is ignored, and the present one stays under way")
    func staleAnswer() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        let stale = bench.requestID
        _ = bench.fail(.unreachable("timed out"))
        #expect(bench.synchronize() == ["send e 0 a"])
        #expect(bench.requestID != stale)
        let before = bench.replica
        let late = SyncResponse(
            cursor: SyncCursor(epoch: "e", sequence: 9), serverTime: bench.now.wall,
            changes: [.other("b", "1", sequence: 9)])
        #expect(!bench.replica.awaits(.answered(id: stale, .success(late))))
        #expect(bench.handle(.answered(id: stale, .success(late))) == [])
        #expect(bench.handle(.answered(id: stale, .failure(.unreachable("late")))) == [])
        #expect(bench.replica == before)
        #expect(bench.replica.awaits(.answered(id: bench.requestID, .success(late))))
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1", "finish 1: 1 sent, 0 received, 0 pending"])
    }

    @Test("events and the end of an earlier stream are ignored")
    func staleStream() {
        var bench = ReplicaBench.joined(isLive: true)
        let stale = bench.streamID
        #expect(bench.receive(.reset) == ["close stream", "send e 0"])
        #expect(bench.answer() == ["open stream e 0"])
        #expect(bench.receive(.opened) == [])
        #expect(bench.streamID != stale)
        let before = bench.replica
        let change = SequencedRecord.other("a", "1", sequence: 1)
        for event in [SyncEvent.opened, .change(change), .reset, .heartbeat] {
            #expect(!bench.replica.awaits(.stream(id: stale, event)))
            #expect(bench.handle(.stream(id: stale, event)) == [])
        }
        #expect(bench.handle(.streamEnded(id: stale, nil)) == [])
        #expect(bench.handle(.streamEnded(id: stale, .unreachable("late"))) == [])
        #expect(bench.replica == before)
        #expect(bench.replica.connection == .connected)
        #expect(bench.receive(.change(change)) == ["append a=1", "state e 1", "notify 0 a"])
    }

    @Test("a stream that fails during a request does not send another before its answer")
    func streamEndsDuringRequest() {
        var bench = ReplicaBench.joined(isLive: true)
        #expect(bench.synchronize() == ["send e 0"])
        let lines = bench.endStream()
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.set("a", "1") == ["append a=1 pending"])
        // The back-off continues after the answer.
        #expect(bench.answer() == ["finish 1: 0 sent, 0 received, 1 pending"])
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0 a"])
    }

    @Test("nothing is left to do after an event that changes nothing")
    func empty() {
        var bench = ReplicaBench.joined(isLive: true)
        _ = bench.receive(.opened)
        #expect(bench.replica.handle(.woke, at: bench.now) == Ready())
        #expect(bench.replica.resume(at: bench.now) == Ready())
    }

    // MARK: - fill

    @Test("fill sets the keys that have no value, in one request")
    func fill() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "mine")
        _ = bench.answer(cursor: 1)
        let (ready, violation) = bench.replica.fill(
            ["a": content("other"), "b": content("2"), "c": content("3")], at: bench.now)
        #expect(violation == nil)
        #expect(ready.entries.count == 2)
        #expect(ready.request?.request.changes.map(\.key) == ["b", "c"])
        #expect(ready.mustSync)
        #expect(bench.values == ["a": "mine", "b": "2", "c": "3"])
    }

    @Test("fill sets all keys or none", arguments: [1, 2, 3])
    func fillIsAtomic(keyCount: Int) {
        var bench = ReplicaBench.joined(limits: StoreLimits(keyCount: keyCount))
        let before = bench.replica
        let contents: [StoreKey: StoreRecord.Content] = ["a": content("1"), "b": content("2"), "c": content("3")]
        let (ready, violation) = bench.replica.fill(contents, at: bench.now)
        if keyCount < 3 {
            #expect(violation?.code == .tooManyKeys)
            #expect(ready == Ready())
            #expect(bench.replica == before)
        } else {
            #expect(violation == nil)
            #expect(bench.values.count == 3)
        }
    }

    @Test("fill without a free key changes nothing")
    func fillNothing() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.answer(cursor: 1)
        let before = bench.replica
        let (ready, violation) = bench.replica.fill(["a": content("2")], at: bench.now)
        #expect(violation == nil && ready == Ready())
        #expect(bench.replica == before)
    }

    // MARK: - Several at once

    @Test("several keys are one event: their entries, one request, one notification where they are refused")
    func several() {
        var bench = ReplicaBench.joined(limits: StoreLimits(totalByteCount: 10, keyCount: 3))
        #expect(bench.set(["b": "22", "a": "1"]) == ["append a=1 pending", "append b=22 pending", "send e 0 a b"])
        #expect(bench.answer(cursor: 2) == ["acknowledged a", "acknowledged b", "state e 2"])
        let before = bench.replica
        #expect(bench.set(["a": "1", "b": "22"]) == [])
        #expect(bench.set(["a": "2", "b": "3", "c": "12345678901"]) == ["notify 2 a b c"])
        #expect(bench.replica == before)
        // What is removed or shrinks makes room for the rest.
        #expect(
            bench.set(["a": "1234567", "b": nil, "c": "123"])
                == ["append b removed pending", "append c=123 pending", "append a=1234567 pending", "send e 2 b c a"])
    }

    // MARK: - Only sending

    @Test("to wait for what has been written takes the request that carries it, and no other")
    func onlySends() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        #expect(bench.synchronize(onlySends: true) == [])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1", "finish 1: 1 sent, 0 received, 0 pending"])
        #expect(bench.synchronize(onlySends: true) == ["finish 2: 0 sent, 0 received, 0 pending"])
        #expect(bench.synchronize() == ["send e 1"])
    }

    @Test("what the request under way does not carry, or was refused or lost, is sent again")
    func onlySendsAgain() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        #expect(bench.set("b", "2") == ["append b=2 pending"])
        #expect(bench.synchronize(onlySends: true) == [])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1", "send e 1 b"])
        #expect(
            bench.answer(cursor: 2, rejections: bench.rejections(.quota(limit: 1))).contains {
                $0.hasPrefix("finish 1: 1 sent")
            })
        #expect(bench.synchronize(onlySends: true) == ["send e 2 b"])
        let failed = bench.fail(.unreachable("lost"))
        #expect(failed.contains { $0.hasPrefix("finish 2: ") } && bench.pendingKeys == ["b"])
        #expect(bench.synchronize(onlySends: true) == ["send e 2 b"])
    }

    @Test("a session that has sent nothing asks, and so does one before its first download")
    func onlySendsFirst() {
        var bench = ReplicaBench.joined()
        #expect(bench.synchronize(onlySends: true) == ["send e 0"])
        var fresh = ReplicaBench()
        _ = fresh.set("a", "1")
        _ = fresh.handle(.attached(isLive: false))
        #expect(fresh.synchronize(onlySends: true) == [])
        #expect(fresh.answer(isInitial: true).last == "send e 0 a")
        #expect(fresh.answer(cursor: 1).last == "finish 1: 1 sent, 0 received, 0 pending")
    }
}
