import Testing

@testable import KVStore

@Suite("Full download from the daemon's ledger")
struct FullDownloadTests {
    @Test("a download of several pages ends also where the daemon has forgotten removals")
    func pagesBelowTheHorizon() {
        var hub = Hub(epoch: "e")
        for number in 0..<1_500 {
            let change = SyncChange.other("key \(number)", "1", at: 1_000)
            hub.commit(hub.plan([change], now: 2_000))
        }
        hub.commit(hub.plan([.other("gone", nil, at: 1_000)], now: 2_000))
        hub.forget("gone")
        var bench = ReplicaBench()
        _ = bench.handle(.attached(isLive: true))
        var rounds = 0
        while let request = bench.request, rounds < 20 {
            rounds += 1
            let plan = hub.plan(request.changes, now: bench.now.wall)
            hub.commit(plan)
            _ = bench.handle(.answered(hub.answer(request, plan: plan, now: bench.now.wall)))
        }
        #expect(rounds == 2)
        #expect(bench.values.count == 1_500)
        #expect(bench.replica.initialSyncCompleted)
    }
}
