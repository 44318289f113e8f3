/// Looks every 5 ms until the condition holds, where there is no notification to wait for; throws `CancellationError`
/// when the task is cancelled, at a time limit say, and what the condition throws.
package func wait(until condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        try await Task.sleep(for: .milliseconds(5))  // deadline of the next look
    }
}
