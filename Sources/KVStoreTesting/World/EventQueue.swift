/// Actions in the order of their time; of two at the same time, the one added first comes first.
struct EventQueue<Action> {
    private struct Item {
        var time: Int64
        var order: UInt64
        var action: Action

        func precedes(_ other: Item) -> Bool { (time, order) < (other.time, other.order) }
    }

    private var heap: [Item] = []
    private var lastOrder: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }

    mutating func add(_ action: Action, at time: Int64) {
        lastOrder += 1
        heap.append(Item(time: time, order: lastOrder, action: action))
        var index = heap.count - 1
        while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func popFirst() -> (time: Int64, action: Action)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var index = 0
            while true {
                var least = index
                for child in [2 * index + 1, 2 * index + 2]
                where child < heap.count && heap[child].precedes(heap[least]) {
                    least = child
                }
                if least == index { break }
                heap.swapAt(index, least)
                index = least
            }
        }
        return (first.time, first.action)
    }
}
