/// What machines have imported, each day of a tool once: of several imports the one with the most tokens counts.
struct LedgerImports: Sendable {
    /// One machine's import of a day of a tool.
    struct Entry: Sendable, Hashable {
        var day: LedgerDay
        var device: String
        var cells: [LedgerCell] = []

        /// Whether this one has more tokens, or else costs or models; nil when it has as many.
        func exceeds(_ other: Entry) -> Bool? {
            func sum(_ cells: [LedgerCell]) -> [Int] {
                let amount = cells.reduce(into: UsageAmount()) { $0 += $1.line.amount }
                return [amount.counts.total, amount.cost.ledgerWords[0], cells.count]
            }
            let (own, others) = (sum(cells), sum(other.cells))
            return own == others ? nil : others.lexicographicallyPrecedes(own)
        }

        /// Whether this one counts.
        fileprivate func outranks(_ other: Entry) -> Bool { exceeds(other) ?? (device < other.device) }
    }

    /// What counts.
    private(set) var best: [LedgerDay: Entry] = [:]

    /// - Parameter pages: by device.
    init(_ pages: [String: [LedgerPage]]) {
        for (device, pages) in pages {
            var entries: [LedgerDay: Entry] = [:]
            for cell in pages.lazy.flatMap(\.cells) {
                let day = LedgerDay(day: cell.day, source: cell.source)
                entries[day, default: Entry(day: day, device: device)].cells.append(cell)
            }
            for entry in entries.values { add(entry) }
        }
    }

    mutating func add(_ entry: Entry) {
        if let other = best[entry.day], !entry.outranks(other) { return }
        best[entry.day] = entry
    }
}
