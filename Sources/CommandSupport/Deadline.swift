/// Runs an operation and returns its value, or nil if it has not finished within `limit`.
///
/// The operation is cancelled at the deadline, and when the calling task is cancelled, which also returns nil.
/// An operation that does not respond to its cancellation does not delay the return; it runs on by itself.
package func withDeadline<Value: Sendable, Failure: Error>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    let (results, result) = AsyncStream<Result<Value, Failure>>.makeStream()
    let task = Task {
        do throws(Failure) {
            result.yield(.success(try await operation()))
        } catch {
            result.yield(.failure(error))
        }
    }
    defer { task.cancel() }
    let first = await withTaskGroup(of: Result<Value, Failure>?.self) { group in
        group.addTask {
            for await result in results { return result }
            return nil
        }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
    return try first?.get()
}
