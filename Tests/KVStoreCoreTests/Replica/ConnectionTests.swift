import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Connection of a replica")
struct ConnectionTests {
    @Test("a live replica pulls, opens its stream from that cursor and applies changes")
    func stream() {
        var bench = ReplicaBench()
        #expect(bench.handle(.attached(isLive: true)) == ["send none"])
        #expect(bench.answer(cursor: 4, isInitial: true) == ["state e 4", "open stream e 4"])
        #expect(bench.receive(.opened) == [])
        #expect(bench.replica.connection == .connected)
        #expect(bench.receive(.heartbeat) == [])
        #expect(bench.receive(.change(.other("a", "1", sequence: 5))) == ["append a=1", "state e 5", "notify 0 a"])
        // A repeated change is not applied again; an older one moves only the cursor.
        #expect(bench.receive(.change(.other("a", "1", sequence: 5))) == [])
        #expect(bench.receive(.change(.other("a", "0", at: 1, sequence: 6))) == ["state e 6"])
        #expect(bench.values == ["a": "1"])
    }

    @Test("changes that arrive together are one log frame and one notification, each key once")
    func together() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 4, isInitial: true)
        _ = bench.receive(.opened)
        #expect(
            bench.receive(
                .changes([
                    .other("known", "0", sequence: 4), .other("a", "1", sequence: 5),
                    .other("b", "1", sequence: 6), .other("a", "2", at: 600_000, sequence: 8),
                ])) == ["append a=1", "append b=1", "append a=2", "state e 8", "notify 0 a b"])
        #expect(bench.values == ["a": "2", "b": "1"])
        // All or nothing of what arrives together.
        let former = bench.replica.table
        let invalid = SequencedRecord.other("", "1", sequence: 10)
        _ = bench.receive(.changes([.other("c", "1", sequence: 9), invalid]))
        #expect(bench.replica.table == former)
    }

    @Test("an answer that refuses several keys for the quota is one notification")
    func refusedTogether() {
        var bench = ReplicaBench.joined()
        _ = bench.set("first", "1")
        for key in ["a", "b", "c"] as [StoreKey] { _ = bench.set(key, "1") }
        _ = bench.answer(cursor: 1)
        let lines = bench.answer(cursor: 1, rejections: bench.rejections(.quota(limit: 5)))
        #expect(lines.filter { $0.hasPrefix("notify") } == ["notify 2 a b c"])
    }

    @Test("an own write that the stream brings back is acknowledged without a notification")
    func echo() throws {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(isInitial: true)
        _ = bench.receive(.opened)
        _ = bench.set("a", "1")
        let record = try #require(bench.request?.changes.first)
        let change = SequencedRecord(record: record, sequence: 1)
        #expect(bench.receive(.change(change)) == ["acknowledged a", "state e 1"])
        #expect(bench.pendingKeys == [])
        #expect(bench.answer(cursor: 1) == [])
    }

    @Test("a reset closes the stream and pulls from the cursor; then the stream is reopened")
    func reset() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 4, isInitial: true)
        #expect(bench.receive(.reset) == ["close stream", "send e 4"])
        #expect(bench.receive(.change(.other("a", "late", sequence: 9))) == [])
        // The cursor is no longer valid: everything is downloaded.
        #expect(bench.answer(epoch: "f", cursor: 2, isInitial: true) == ["send none"])
        #expect(bench.answer(epoch: "f", cursor: 2, isInitial: true) == ["state f 2", "open stream f 2"])
    }

    @Test("after the end of its stream a replica backs off, pulls and reopens it")
    func streamEnds() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(isInitial: true)
        _ = bench.receive(.opened)
        let lines = bench.endStream()
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.endStream() == [])
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0"])
        #expect(bench.answer() == ["open stream e 0"])
    }

    @Test("the back-off doubles within its bounds, and an early wake-up is postponed")
    func backOff() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        var waits: [Int64] = []
        for _ in 0..<12 {
            let lines = bench.fail(.unreachable("refused"))
            let wait = Int64(lines[0].dropFirst("wake in ".count))!
            waits.append(wait)
            bench.advance(milliseconds: wait - 1)
            #expect(bench.handle(.woke) == ["wake in 1"])
            bench.advance(milliseconds: 1)
            #expect(bench.handle(.woke) == ["send none"])
        }
        for (index, wait) in waits.enumerated() {
            let full = min(Int64(500) << Int64(index), 30_000)
            #expect((full / 2...full).contains(wait), "wait \(index): \(wait)")
        }
        _ = bench.answer(isInitial: true)
        let lines = bench.endStream()
        #expect(Int64(lines[0].dropFirst("wake in ".count))! <= 500)
    }

    @Test("a replica waits at least as long as the daemon asks, up to ten minutes")
    func retryAfter() {
        for (requested, expected) in [(45.0, Int64(45_000)), (100_000, 600_000), (.infinity, 0)] {
            var bench = ReplicaBench()
            _ = bench.handle(.attached(isLive: true))
            let lines = bench.fail(.busy(retryAfterSeconds: requested))
            let wait = Int64(lines[0].dropFirst("wake in ".count))!
            #expect(expected == 0 ? wait <= 500 : wait == expected)
        }
    }

    @Test("malformed answers are failures: they acknowledge nothing, and the back-off grows")
    func malformed() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        var greatest: Int64 = 0
        for round in 0..<8 {
            let lines =
                switch round % 3 {
                case 0: bench.answer(epoch: "other", cursor: 0, hasMore: true)
                case 1: bench.answer(cursor: 5, [.other("", "1")])
                default: bench.answer(cursor: 5, [.other(.long, "1")])
                }
            #expect(lines.count == 1 && lines[0].hasPrefix("wake in "), "round \(round)")
            greatest = max(greatest, Int64(lines[0].dropFirst("wake in ".count))!)
            #expect(bench.pendingKeys == ["a"])
            #expect(bench.replica.state.cursor == SyncCursor(epoch: "e", sequence: 0))
            bench.advance(milliseconds: 60_000)
            #expect(bench.handle(.woke) == ["send e 0 a"])
        }
        #expect(greatest > 10_000)
        #expect(bench.values == ["a": "1"])
    }

    @Test("answers, failures and stream events without a request or a stream are ignored")
    func stray() {
        var bench = ReplicaBench.joined()
        let before = bench.replica
        #expect(bench.answer(cursor: 50, [.other("a", "1")]) == [])
        #expect(bench.fail(.unreachable("x")) == [])
        #expect(bench.endStream() == [])
        #expect(bench.receive(.change(.other("a", "1", sequence: 3))) == [])
        #expect(bench.replica == before)
    }

    @Test("a waiter's report covers a round trip that began after its call")
    func waiters() {
        var bench = ReplicaBench.joined()
        #expect(bench.synchronize() == ["send e 0"])
        _ = bench.set("a", "1")
        #expect(bench.synchronize() == [])
        #expect(bench.answer(cursor: 0) == ["send e 0 a"])
        #expect(
            bench.answer(cursor: 1, [.other("b", "1")]) == [
                "append b=1", "acknowledged a", "state e 1", "notify 0 b", "finish 1: 1 sent, 1 received, 0 pending",
                "finish 2: 1 sent, 1 received, 0 pending",
            ])
    }

    @Test("a waiter's report includes what was already being sent")
    func underWay() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        #expect(bench.synchronize() == [])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1", "send e 1"])
        #expect(bench.answer(cursor: 1) == ["finish 1: 1 sent, 0 received, 0 pending"])
    }

    @Test("a failure fails every waiter at once, even one that joined during the request")
    func failedWaiters() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        _ = bench.synchronize()
        let lines = bench.fail(.unreachable("refused"))
        #expect(lines.suffix(2) == ["finish 1: refused", "finish 2: refused"])
        #expect(lines.count == 3)
        bench.advance(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0"])
    }

    @Test("synchronize ends the back-off")
    func synchronizeDuringBackOff() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.fail(.unreachable("refused"))
        #expect(bench.set("b", "1") == ["append b=1 pending"])
        #expect(bench.synchronize() == ["send e 0 a b"])
    }

    @Test("a notification contains at most 50 keys")
    func batches() {
        var bench = ReplicaBench.joined()
        _ = bench.synchronize()
        let lines = bench.answer(cursor: 120, (0..<120).map { .other("key \($0)", "1") })
        let counts = lines.filter { $0.hasPrefix("notify 0") }.map {
            $0.split(separator: "key").count - 1
        }
        #expect(counts == [50, 50, 20])
    }
}

@Suite("Stores that do not exist")
struct UnknownStoreTests {
    private let unknown = SyncTransportError.refused(status: 404, code: "unknown-store", message: "unknown")

    @Test("a replica without a cursor counts one as empty, and tries again")
    func empty() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.synchronize()
        let lines = bench.fail(unknown)
        #expect(lines.contains("finish 1: 0 sent, 0 received, 0 pending"))
        #expect(lines.contains { $0.hasPrefix("wake in") })
        #expect(!bench.replica.state.initialSyncCompleted)
    }

    @Test("a replica with a cursor, or with values of its own, sees the refusal")
    func refused() {
        var known = ReplicaBench.joined()
        _ = known.synchronize()
        #expect(known.fail(unknown).contains("finish 1: \(unknown)"))
        var own = ReplicaBench()
        _ = own.set("k", "v")
        _ = own.handle(.attached(isLive: false))
        _ = own.synchronize()
        #expect(own.fail(unknown).contains("finish 1: \(unknown)"))
    }
}
