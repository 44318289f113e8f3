package import KVStoreWire
import NIOCore
import Synchronization

/// Bounds the requests that are answered elsewhere than on their event loops. Safe from any thread.
package final class RequestGate: Sendable {
    private let limit: Int
    private let count = Atomic(0)

    /// - Parameter limit: requests under way at a time; beyond, they are `busy`.
    package init(limit: Int) { self.limit = limit }

    /// Admits a request. Its answer is to be passed once, from any thread, to what this returns.
    package func admit(
        on loop: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) throws(Problem) -> @Sendable (Result<Answer, Problem>) -> Void {
        guard count.add(1, ordering: .relaxed).newValue <= limit else {
            count.subtract(1, ordering: .relaxed)
            throw .busy
        }
        let completion = NIOLoopBound(complete, eventLoop: loop.loop)
        return { [self] result in
            count.subtract(1, ordering: .relaxed)
            loop.loop.execute { completion.value(result.map { .answer($0) }) }
        }
    }
}
