/// By which items are ordered, each from the most to the least; of equal ones that copied last comes first.
enum ItemOrder: String, CaseIterable, Sendable {
    case lastCopiedAt, firstCopiedAt, numberOfCopies
}

enum PinPlacement: String, CaseIterable, Sendable { case top, bottom }

extension ClipHistory {
    /// The keys of all items in the order of the list. Pins keep the order among themselves.
    func sorted(by order: ItemOrder = .lastCopiedAt, pins: PinPlacement = .top) -> [ItemKey] {
        let entries = items.map { key, item in
            let value =
                switch order {
                case .lastCopiedAt: item.lastCopied.milliseconds
                case .firstCopiedAt: item.firstCopied.milliseconds
                case .numberOfCopies: Int64(item.copyCount)
                }
            let group = item.isPinned == (pins == .top) ? 1 : 0
            return (key: key, rank: (group, value, item.lastCopied, key))
        }
        return entries.sorted { $0.rank > $1.rank }.map(\.key)
    }
}

/// Where the selection of a list goes.
enum ListSelection {
    /// After a change of the query: the first that is not pinned for an empty one, else the first.
    static func initial(query: String, isPinned: [Bool]) -> Int? {
        guard !isPinned.isEmpty else { return nil }
        return query.isEmpty ? isPinned.firstIndex(of: false) ?? 0 : 0
    }

    /// After the item at an index was removed from so many: the nearest, and the next of two.
    static func afterRemoving(_ index: Int, of count: Int) -> Int? {
        guard count > 1, (0..<count).contains(index) else { return nil }
        return min(index, count - 2)
    }

    /// The digits that select the first nine visible items that are not pinned; nil for the others.
    static func digits(isPinned: [Bool]) -> [Int?] {
        var next = 1
        return isPinned.map { pinned in
            guard !pinned, next <= 9 else { return nil }
            defer { next += 1 }
            return next
        }
    }
}
