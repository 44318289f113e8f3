/// A hybrid logical clock: physical milliseconds where it can, a counter where it must.
///
/// Readings strictly increase, and are greater than every stamp observed, so a write that follows what
/// its author saw always wins over it. Source: Kulkarni et al., "Logical Physical Clocks", 2014.
struct HybridClock: Sendable, Equatable {
    /// The greatest reading given out or observed.
    private(set) var milliseconds: Int64 = 0
    private(set) var counter: UInt32 = 0
    /// What to add to the device's clock to get the daemon's, as last learned.
    var offsetMilliseconds: Int64 = 0

    /// The next reading for a write at the device's time `now`.
    mutating func next(now: Int64, replica: ReplicaID) -> Stamp {
        let physical = corrected(now)
        if physical > milliseconds {
            (milliseconds, counter) = (physical, 0)
        } else if counter == .max {
            (milliseconds, counter) = (milliseconds + 1, 0)
        } else {
            counter += 1
        }
        return Stamp(milliseconds: milliseconds, counter: counter, replica: replica)
    }

    /// Takes note of a stamp seen anywhere.
    mutating func observe(_ stamp: Stamp) {
        if (stamp.milliseconds, stamp.counter) > (milliseconds, counter) {
            (milliseconds, counter) = (stamp.milliseconds, stamp.counter)
        }
    }

    /// Forgets readings that lie in the daemon's future, after the daemon has refused one: what was
    /// stamped with them is stamped again.
    mutating func rewind(to now: Int64, keeping greatest: Stamp?) {
        (milliseconds, counter) = (corrected(now), 0)
        if let greatest { observe(greatest) }
    }

    func corrected(_ now: Int64) -> Int64 {
        min(max(now &+ offsetMilliseconds, 0), Stamp.greatestMilliseconds)
    }
}
