/// A wait that was cut off.
struct DeadlineExceeded: Error {}

enum Deadline {
    /// Runs `body`, cancels it after the time, and then throws `DeadlineExceeded`.
    static func run<Value: Sendable>(
        milliseconds: Int64, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .milliseconds(milliseconds))
                return nil
            }
            guard let first = try await group.next(), let value = first else {
                throw DeadlineExceeded()
            }
            return value
        }
    }
}
