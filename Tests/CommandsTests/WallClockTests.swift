import Commands
import Foundation
import Testing

@Suite("The wall clock", .timeLimit(.minutes(5)))
struct WallClockTests {
    @Test("a time that has come is not waited for", arguments: [-1e300, -1, 0, 1_000_000_000, .nan] as [Double])
    func past(seconds: Double) async { await WallClock.sleep(until: Date(timeIntervalSince1970: seconds)) }

    @Test("a time to come is reached")
    func future() async {
        let date = Date(timeIntervalSinceNow: 0.05)
        await WallClock.sleep(until: date)
        #expect(Date() >= date)
    }

    @Test("a cancelled task does not wait", arguments: [1e12, 1e300, .infinity] as [Double])
    func cancelled(seconds: Double) async {
        let task = Task { await WallClock.sleep(until: Date(timeIntervalSince1970: seconds)) }
        task.cancel()
        await task.value
    }
}
