/// Keys in the order of their last change, so that "everything since N" costs what it answers.
///
/// Changes are appended; a key's earlier position goes dead and is dropped when half of the positions are.
struct SequenceIndex: Sendable, Equatable {
    struct Position: Sendable, Equatable {
        var sequence: UInt64
        var key: StoreKey
    }

    private var positions: [Position] = []

    /// Records that `key` changed last at `sequence`, which is greater than all before.
    mutating func append(_ key: StoreKey, at sequence: UInt64, liveCount: Int, isLive: (Position) -> Bool) {
        positions.append(Position(sequence: sequence, key: key))
        if positions.count > 2 * liveCount + 64 { positions.removeAll { !isLive($0) } }
    }

    /// Places after `sequence`, dead ones included.
    func positions(after sequence: UInt64) -> ArraySlice<Position> {
        var low = 0
        var high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return positions[low...]
    }

    /// Builds the index from positions in any order.
    init(_ positions: [Position] = []) {
        self.positions = positions.sorted { $0.sequence < $1.sequence }
    }
}
