/// What is still to happen, in the order of time; of two at one time, the one added first comes first.
package struct Agenda<Action> {
    private struct Item {
        var time: Int64
        var action: Action
    }

    /// The first `doneCount` of them have been taken; they are removed in one go, later.
    private var items: [Item] = []
    private var doneCount = 0

    package init() {}

    private var rest: ArraySlice<Item> { items[doneCount...] }

    /// Whether an action meets the condition; the earliest is asked first.
    package func contains(where isWanted: (Action) -> Bool) -> Bool {
        rest.contains { isWanted($0.action) }
    }

    /// The actions that meet the condition, earliest first.
    package func filter(_ isWanted: (Action) -> Bool) -> [Action] {
        rest.lazy.map { $0.action }.filter(isWanted)
    }

    package mutating func add(_ action: Action, at time: Int64) {
        var low = doneCount
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if items[middle].time > time { high = middle } else { low = middle + 1 }
        }
        items.insert(Item(time: time, action: action), at: low)
    }

    /// Adds actions before all others, in their order; nothing is due before `time`, the present.
    package mutating func addFirst(_ actions: [Action], at time: Int64) {
        items.insert(contentsOf: actions.map { Item(time: time, action: $0) }, at: doneCount)
    }

    /// Takes the next action, unless it comes later than `limit` or does not meet the condition.
    package mutating func popFirst(
        through limit: Int64 = .max, where isWanted: (Action) -> Bool = { _ in true }
    ) -> (time: Int64, action: Action)? {
        guard let next = rest.first, next.time <= limit, isWanted(next.action) else { return nil }
        doneCount += 1
        if doneCount * 2 > items.count { removeDone() }
        return (next.time, next.action)
    }

    package mutating func removeAll(where isUnwanted: (Action) -> Bool) {
        removeDone()
        items.removeAll { isUnwanted($0.action) }
    }

    private mutating func removeDone() {
        items.removeFirst(doneCount)
        doneCount = 0
    }
}
