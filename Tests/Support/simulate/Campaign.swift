import Commands
import Dispatch
import Foundation
import SimulatedWorld
import Synchronization

/// Many worlds, several at once, until their number, a time or a number of broken ones is reached.
final class Campaign: Sendable {
    private struct State {
        var next: UInt64
        var report = CampaignReport()
        var isEnded = false
        var lastProgress = Date.distantPast
    }

    private let first: UInt64
    private let count: UInt64?
    private let failureLimit: Int
    private let state: Mutex<State>

    init(first: UInt64, count: UInt64?, failureLimit: Int) {
        self.first = first
        self.count = count
        self.failureLimit = failureLimit
        state = Mutex(State(next: first))
    }

    var report: CampaignReport { state.withLock { $0.report } }

    /// Ctrl-C ends it after the worlds that are under way; a second one at once.
    func run(jobs: Int, until end: Date?) {
        let start = Date()
        let signals = EndSignals()
        let ending = Task {
            await signals.wait()
            state.withLock { $0.isEnded = true }
        }
        DispatchQueue.concurrentPerform(iterations: jobs) { _ in
            while let seed = take(until: end) { play(seed) }
        }
        ending.cancel()
        state.withLock {
            $0.report.first = first
            $0.report.seconds = Date().timeIntervalSince(start)
        }
    }

    private func take(until end: Date?) -> UInt64? {
        state.withLock { state in
            if let count, state.next >= first + count { return nil }
            if state.isEnded || end.map({ $0 < Date() }) == true { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func play(_ seed: UInt64) {
        let world = World(seed: seed)
        var violation: Violation?
        do throws(Violation) { try world.run() } catch { violation = error }
        let (faults, work) = (world.faultCounts, world.workCounts)
        state.withLock { state in
            state.report.add(seed: seed, faults: faults, work: work, violation: violation)
            if let violation {
                Console.note("\(violation)\nplay it again: scripts/simulate --seed \(seed) --trace")
                if state.report.broken.count >= failureLimit { state.isEnded = true }
            }
            reportProgress(&state)
        }
    }

    /// Prints a line every ten seconds.
    private func reportProgress(_ state: inout State) {
        guard Date().timeIntervalSince(state.lastProgress) >= 10 else { return }
        state.lastProgress = Date()
        Console.note(
            "\(state.report.seedCount) seeds\(count.map { " of \($0)" } ?? ""), "
                + "\(state.report.broken.count) broken")
    }
}
