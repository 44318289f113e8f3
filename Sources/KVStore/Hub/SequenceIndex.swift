/// Keys in the order of their last change, so that "everything since N" costs what it answers.
///
/// Changes are appended; a key's earlier place goes dead and is dropped when half of the places are.
struct SequenceIndex: Sendable, Equatable {
    struct Place: Sendable, Equatable {
        var sequence: UInt64
        var key: String
    }

    private var places: [Place] = []

    /// Notes that `key` changed last at `sequence`, which is greater than all before.
    mutating func append(
        _ key: String, at sequence: UInt64, liveCount: Int, isLive: (Place) -> Bool
    ) {
        places.append(Place(sequence: sequence, key: key))
        if places.count > 2 * liveCount + 64 { places.removeAll { !isLive($0) } }
    }

    /// Places after `sequence`, dead ones included.
    func places(after sequence: UInt64) -> ArraySlice<Place> {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return places[low...]
    }

    /// Builds the index anew from places in any order.
    init(_ places: [Place] = []) {
        self.places = places.sorted { $0.sequence < $1.sequence }
    }
}
