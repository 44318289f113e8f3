/// How much of an account is shown, from the least to the most.
package enum UsageDensity: Int, Sendable, CaseIterable, Comparable {
    /// One line, about its most urgent window.
    case row
    /// A line for each window.
    case windows
    /// Also credits, budget, cost and what is wrong.
    case card

    package static func < (left: UsageDensity, right: UsageDensity) -> Bool { left.rawValue < right.rawValue }

    /// What is known of an account before it is drawn: its lines in each form, and whether it needs somebody.
    package typealias Account = (heights: [UsageDensity: Int], needsAttention: Bool)

    /// The largest form in which all accounts are seen without scrolling; where some room is left then, those that need
    /// somebody are larger. Rows if nothing fits.
    ///
    /// - Parameters:
    ///   - columns: of accounts, side by side.
    ///   - rows: lines that there are; nil for as many as it takes.
    package static func forms(of accounts: [Account], columns: Int, rows: Int?) -> [UsageDensity] {
        guard let rows else { return accounts.map { _ in .card } }
        func fits(_ forms: [UsageDensity]) -> Bool {
            let items = zip(accounts, forms).map { (height: $0.heights[$1] ?? 1, isSpaced: $1 == .card) }
            return MasonryLayout(items, columns: columns).height <= rows
        }
        let all = allCases.map { form in accounts.map { _ in form } }
        guard var forms = all.last(where: fits) else { return all[0] }
        for (index, account) in accounts.enumerated() where account.needsAttention {
            while let larger = UsageDensity(rawValue: forms[index].rawValue + 1) {
                var tried = forms
                tried[index] = larger
                guard fits(tried) else { break }
                forms = tried
            }
        }
        return forms
    }
}

/// Items in columns, each below the one that is shortest so far, so that there are no holes.
package struct MasonryLayout {
    /// Its lines, and whether an empty one is before and after it.
    package typealias Item = (height: Int, isSpaced: Bool)

    /// The column and the first line of each item.
    package private(set) var places: [(column: Int, row: Int)] = []
    package private(set) var height = 0

    package init(_ items: [Item], columns: Int) {
        var ends = [Int](repeating: 0, count: max(1, columns))
        var isLastSpaced = [Bool](repeating: false, count: ends.count)
        for item in items {
            let column = ends.indices.min { ends[$0] < ends[$1] } ?? 0
            let row = ends[column] + (ends[column] > 0 && (item.isSpaced || isLastSpaced[column]) ? 1 : 0)
            places.append((column, row))
            ends[column] = row + item.height
            isLastSpaced[column] = item.isSpaced
        }
        height = ends.max() ?? 0
    }
}
