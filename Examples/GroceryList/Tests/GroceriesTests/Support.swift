import Groceries
import KVStore
import Observation

extension Groceries {
    /// A list that follows its store until that is closed.
    static func following(_ store: UbiquitousKeyValueStore) -> Groceries {
        let groceries = Groceries(store: store)
        Task { await groceries.follow() }
        return groceries
    }

    func item(_ name: String) -> Item? { items.first { $0.name == name } }

    /// Waits until the list has the items, of which bought ones are marked with `✓`. False if the task is cancelled
    /// before.
    func shows(_ expected: [String]) async -> Bool {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        var iterator = changes.makeAsyncIterator()
        while items.map({ $0.isBought ? "✓ " + $0.name : $0.name }) != expected {
            withObservationTracking {
                _ = items
            } onChange: {
                continuation.yield()
            }
            guard await iterator.next() != nil else { return false }
        }
        return true
    }
}
