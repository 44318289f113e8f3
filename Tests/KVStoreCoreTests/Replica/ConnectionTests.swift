import Testing

@testable import KVStore

@Suite("Connection of a replica")
struct ConnectionTests {
    @Test("a live replica pulls, opens its stream from there, and takes changes in")
    func stream() {
        var bench = ReplicaBench()
        #expect(bench.handle(.attached(isLive: true)) == ["send none 0"])
        #expect(
            bench.answer(cursor: 4, initial: true) == ["state e 4", "open stream e 4"])
        #expect(bench.handle(.stream(.opened)) == [])
        #expect(bench.replica.status.connection == .connected)
        #expect(bench.handle(.stream(.heartbeat)) == [])
        #expect(
            bench.handle(.stream(.change(.other("a", "1", seq: 5))))
                == ["append a=1", "state e 5", "notify 0 a"])
        // Told twice, it is taken once; an older one changes nothing but the cursor.
        #expect(bench.handle(.stream(.change(.other("a", "1", seq: 5)))) == [])
        #expect(
            bench.handle(.stream(.change(.other("a", "0", at: 1, seq: 6)))) == ["state e 6"])
        #expect(bench.values == ["a": "1"])
    }

    @Test("its own write comes back on the stream without a notification")
    func echo() throws {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(initial: true)
        _ = bench.handle(.stream(.opened))
        _ = bench.set("a", "1")
        var change = try #require(bench.request?.changes.first)
        change.seq = 1
        #expect(bench.handle(.stream(.change(change))) == ["acknowledged a", "state e 1"])
        #expect(bench.replica.pendingKeys == [])
        #expect(bench.answer(cursor: 1) == [])
    }

    @Test("a reset closes the stream and syncs from the cursor; then the stream is opened again")
    func reset() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(cursor: 4, initial: true)
        #expect(bench.handle(.stream(.reset)) == ["close stream", "send e 4"])
        #expect(bench.handle(.stream(.change(.other("a", "late", seq: 9)))) == [])
        // The cursor is of no use any more: everything is asked for.
        #expect(bench.answer(epoch: "f", cursor: 2, initial: true) == ["send none 0"])
        #expect(
            bench.answer(epoch: "f", cursor: 2, initial: true) == ["state f 2", "open stream f 2"])
    }

    @Test("when the stream ends it waits, syncs and opens it again")
    func streamEnds() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        _ = bench.answer(initial: true)
        _ = bench.handle(.stream(.opened))
        let lines = bench.handle(.streamEnded(nil))
        #expect(lines.count == 1 && lines[0].hasPrefix("wake in "))
        #expect(bench.handle(.streamEnded(nil)) == [])
        bench.pass(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0"])
        #expect(bench.answer() == ["open stream e 0"])
    }

    @Test("the wait doubles within its bounds, and a wake before its time is put off")
    func backOff() {
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        var waits: [Int64] = []
        for _ in 0..<12 {
            let lines = bench.handle(.failed(.unreachable("refused")))
            let wait = Int64(lines[0].dropFirst("wake in ".count))!
            waits.append(wait)
            bench.pass(milliseconds: wait - 1)
            #expect(bench.handle(.woke) == ["wake in 1"])
            bench.pass(milliseconds: 1)
            #expect(bench.handle(.woke) == ["send none 0"])
        }
        for (index, wait) in waits.enumerated() {
            let full = min(Int64(500) << Int64(index), 30_000)
            #expect((full / 2...full).contains(wait), "wait \(index): \(wait)")
        }
        _ = bench.answer(initial: true)
        let lines = bench.handle(.streamEnded(nil))
        #expect(Int64(lines[0].dropFirst("wake in ".count))! <= 500)
    }

    @Test("it waits at least as long as the daemon asks, at most ten minutes")
    func asked() {
        for (asked, expected) in [(45.0, Int64(45_000)), (100_000, 600_000), (.infinity, 0)] {
            var bench = ReplicaBench()
            _ = bench.handle(.attached(isLive: true))
            let lines = bench.handle(.failed(.busy(retryAfterSeconds: asked)))
            let wait = Int64(lines[0].dropFirst("wake in ".count))!
            #expect(expected == 0 ? wait <= 500 : wait == expected)
        }
    }

    @Test("answers that make no sense are failures: nothing is acknowledged, and the waits grow")
    func malformed() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        var greatest: Int64 = 0
        for round in 0..<8 {
            let lines =
                switch round % 3 {
                case 0: bench.answer(epoch: "other", cursor: 0, more: true)
                case 1: bench.answer(cursor: 5, [SyncChange(key: "b", stamp: "x", deleted: true)])
                default:
                    bench.answer(cursor: 5, [.other(String(repeating: "k", count: 70_000), "1")])
                }
            #expect(lines.count == 1 && lines[0].hasPrefix("wake in "), "round \(round)")
            greatest = max(greatest, Int64(lines[0].dropFirst("wake in ".count))!)
            #expect(bench.replica.pendingKeys == ["a"])
            #expect(bench.replica.state.cursor == 0)
            bench.pass(milliseconds: 60_000)
            #expect(bench.handle(.woke) == ["send e 0 a"])
        }
        #expect(greatest > 10_000)
        #expect(bench.values == ["a": "1"])
    }

    @Test("answers and failures that nobody waits for are ignored")
    func stray() {
        var bench = ReplicaBench.joined()
        let before = bench.replica
        #expect(bench.answer(cursor: 50, [.other("a", "1")]) == [])
        #expect(bench.handle(.failed(.unreachable("x"))) == [])
        #expect(bench.handle(.streamEnded(nil)) == [])
        #expect(bench.handle(.stream(.change(.other("a", "1", seq: 3)))) == [])
        #expect(bench.replica == before)
    }

    @Test("one who waits is told after a round that began later, and of what it did")
    func waiters() {
        var bench = ReplicaBench.joined()
        #expect(bench.handle(.synchronize(waiter: 1)) == ["send e 0"])
        _ = bench.set("a", "1")
        #expect(bench.handle(.synchronize(waiter: 2)) == [])
        #expect(bench.answer(cursor: 0) == ["send e 0 a"])
        #expect(
            bench.answer(cursor: 1, [.other("b", "1")]) == [
                "append b=1", "acknowledged a", "state e 1", "notify 0 b",
                "finish 1: 1 sent, 1 received, 0 pending",
                "finish 2: 1 sent, 1 received, 0 pending",
            ])
    }

    @Test("one who waits is told of what was on its way already, too")
    func underWay() {
        var bench = ReplicaBench.joined()
        #expect(bench.set("a", "1") == ["append a=1 pending", "send e 0 a"])
        #expect(bench.handle(.synchronize(waiter: 1)) == [])
        #expect(bench.answer(cursor: 1) == ["acknowledged a", "state e 1", "send e 1"])
        #expect(bench.answer(cursor: 1) == ["finish 1: 1 sent, 0 received, 0 pending"])
    }

    @Test("all who wait are told of a failure at once, also who came during the flight")
    func failedWaiters() {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        _ = bench.handle(.synchronize(waiter: 2))
        let lines = bench.handle(.failed(.unreachable("refused")))
        #expect(lines.prefix(2) == ["finish 1: refused", "finish 2: refused"])
        #expect(lines.count == 3)
        bench.pass(milliseconds: 1_000)
        #expect(bench.handle(.woke) == ["send e 0"])
    }

    @Test("asking to synchronize does not wait for the back-off")
    func impatient() {
        var bench = ReplicaBench.joined()
        _ = bench.set("a", "1")
        _ = bench.handle(.failed(.unreachable("refused")))
        #expect(bench.set("b", "1") == ["append b=1 pending"])
        #expect(bench.handle(.synchronize(waiter: 1)) == ["send e 0 a b"])
    }

    @Test("a notification names at most 50 keys")
    func batches() {
        var bench = ReplicaBench.joined()
        _ = bench.handle(.synchronize(waiter: 1))
        let lines = bench.answer(cursor: 120, (0..<120).map { .other("key \($0)", "1") })
        let counts = lines.filter { $0.hasPrefix("notify 0") }.map {
            $0.split(separator: "key").count - 1
        }
        #expect(counts == [50, 50, 20])
    }
}
