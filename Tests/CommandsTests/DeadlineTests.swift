import Essentials
import Testing

@Suite("A deadline", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private struct Failed: Error {}

    /// Runs until it is cancelled, then reports that.
    private func runForever(_ report: AsyncStream<Void>.Continuation) async {
        for await _ in AsyncStream<Never>.makeStream().stream {}
        if Task.isCancelled { report.yield() }
    }

    @Test("an operation that finishes in time returns its value or throws its error")
    func inTime() async throws {
        #expect(await withDeadline(.seconds(600)) { 1 } == 1)
        await #expect(throws: Failed.self) {
            try await withDeadline(.seconds(600)) { () throws(Failed) in throw Failed() }
        }
    }

    @Test("an operation that is late is cancelled")
    func late() async {
        let (cancellations, cancelled) = AsyncStream<Void>.makeStream()
        let value: Void? = await withDeadline(.milliseconds(1)) { await runForever(cancelled) }
        #expect(value == nil)
        for await _ in cancellations { break }
    }

    @Test("cancelling the caller cancels the operation")
    func cancelled() async {
        let (cancellations, cancelled) = AsyncStream<Void>.makeStream()
        let caller = Task {
            await withDeadline(.seconds(600)) { await runForever(cancelled) } == nil
        }
        caller.cancel()
        #expect(await caller.value)
        for await _ in cancellations { break }
    }
}
