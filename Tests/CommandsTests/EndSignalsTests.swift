import Foundation
import Commands
import Testing

@Suite("Ending signals", .serialized, .timeLimit(.minutes(5)))
struct EndSignalsTests {
    @Test("a signal that arrives before the wait is not missed")
    func early() async {
        let signals = EndSignals()
        // To the process: a thread of a queue takes no signals.
        kill(getpid(), SIGINT)
        await signals.wait()
        await signals.wait()
    }

    @Test("a signal that arrives at once after its stream was made is not missed, however often")
    func immediate() async {
        for _ in 0..<1_000 {
            let numbers = SignalArrivals.numbers(of: [SIGUSR1, SIGUSR2])
            kill(getpid(), SIGUSR2)
            #expect(await numbers.first { _ in true } == SIGUSR2)
        }
    }

    @Test("a cancelled wait returns")
    func cancelled() async {
        let signals = EndSignals()
        let waiting = Task { await signals.wait() }
        waiting.cancel()
        await waiting.value
    }
}
