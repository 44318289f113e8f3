/// Runs an operation and returns its value, or nil if it has not finished within `limit`.
///
/// The operation is cancelled at the deadline, and when the calling task is cancelled, which also returns nil. It
/// must respond to cancellation: the call returns once the operation has ended.
package func withDeadline<Value: Sendable, Failure: Error>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    let first = await withTaskGroup(of: Result<Value, Failure>?.self) { group in
        group.addTask {
            do throws(Failure) {
                return .success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        group.addTask {
            try? await Task.sleep(for: limit)  // Ends early when the operation has finished.
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
    return Task.isCancelled ? nil : try first?.get()
}
