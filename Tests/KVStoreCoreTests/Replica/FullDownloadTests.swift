import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Full download from a hub")
struct FullDownloadTests {
    @Test("a download of several pages completes although the daemon has forgotten tombstones")
    func pagesBelowTheHorizon() {
        var hub = Hub(epoch: "e")
        for number in 0..<1_500 {
            let record = StoreRecord.other("key \(number)", "1", at: 1_000)
            hub.commit(hub.plan([record], now: 2_000))
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
            let answer = hub.answer(request, plan: plan, now: bench.now.wall)
            _ = bench.handle(.answered(id: bench.requestID, .success(answer)))
        }
        #expect(rounds == 2)
        #expect(bench.values.count == 1_500)
        #expect(bench.replica.state.initialSyncCompleted)
    }
}
