/// Items in columns, each below the one that is shortest so far, so that there are no holes.
package struct MasonryLayout {
    package struct Item {
        package var height: Int
        /// Whether an empty line is before and after it.
        package var isSpaced: Bool

        package init(height: Int, isSpaced: Bool) {
            self.height = height
            self.isSpaced = isSpaced
        }
    }

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
