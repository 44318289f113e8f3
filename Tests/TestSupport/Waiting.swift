/// Returns when the condition holds without a notification to wait for; throws `CancellationError` when the task is cancelled, at a
/// time limit say, and what the condition throws.
package func wait(until condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
