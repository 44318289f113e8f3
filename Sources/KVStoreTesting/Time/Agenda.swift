/// What is still to happen, in the order of time; of two at one time, the one added first comes first.
package struct Agenda<Action> {
    private struct Item {
        var time: Int64
        var action: Action
    }

    /// The next one is the last one.
    private var items: [Item] = []

    package init() {}

    /// In no particular order.
    package var actions: some Sequence<Action> { items.lazy.map(\.action) }

    package mutating func add(_ action: Action, at time: Int64) {
        var low = 0
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if items[middle].time > time { low = middle + 1 } else { high = middle }
        }
        items.insert(Item(time: time, action: action), at: low)
    }

    /// Takes the next action, unless it comes later than `limit`.
    package mutating func popFirst(through limit: Int64 = .max) -> (time: Int64, action: Action)? {
        guard let next = items.last, next.time <= limit else { return nil }
        items.removeLast()
        return (next.time, next.action)
    }

    package mutating func removeAll(where isUnwanted: (Action) -> Bool) {
        items.removeAll { isUnwanted($0.action) }
    }
}
