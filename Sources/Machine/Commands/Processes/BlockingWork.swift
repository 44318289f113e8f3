import Dispatch
import Synchronization

/// Work that blocks its thread, as a `BoundedProcess` does.
package enum BlockingWork {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    /// Waits for its end on a thread of its own.
    ///
    /// - Parameter body: its argument returns true from when the task is cancelled.
    package static func run<Result: Sendable>(
        _ label: String, _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Result
    ) async -> Result {
        let flag = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: label).async {
                    continuation.resume(returning: body { flag.isSet.load(ordering: .relaxed) })
                }
            }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
    }
}
