/// Returns when the condition holds without a notification to wait for; throws `CancellationError` when the task is cancelled, at a
/// time limit say, and what the condition throws.
package func wait(until condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        // Leaves the processor to what is waited for.
        try await Task.sleep(for: .milliseconds(5))  // deadline of the next look
    }
}
