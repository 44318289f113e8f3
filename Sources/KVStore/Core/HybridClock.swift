/// A hybrid logical clock: physical milliseconds where it can, a counter where it must.
///
/// Readings strictly increase, and are greater than every stamp observed, so a write that follows what
/// its author saw always wins over it. Only `rewind` and `restart` go back, and what follows is under another
/// replica id. Source: Kulkarni et al., "Logical Physical Clocks", 2014.
struct HybridClock: Sendable, Equatable {
    struct Reading: Sendable, Equatable, Comparable {
        var milliseconds: Int64 = 0
        var counter: UInt32 = 0

        init(milliseconds: Int64 = 0, counter: UInt32 = 0) {
            self.milliseconds = milliseconds
            self.counter = counter
        }

        init(_ stamp: Stamp) {
            self.init(milliseconds: stamp.milliseconds, counter: stamp.counter)
        }

        static func < (left: Reading, right: Reading) -> Bool {
            (left.milliseconds, left.counter) < (right.milliseconds, right.counter)
        }
    }

    /// The greatest reading given out or observed.
    private(set) var reading = Reading()
    /// The greatest reading of a stamp that the daemon has.
    var confirmed = Reading()
    /// The greatest reading given out in place of a refused one: the daemon may have such a stamp without an answer.
    private(set) var regiven = Reading()
    /// What to add to the device's clock to get the daemon's, as last learned.
    var offsetMilliseconds: Int64 = 0

    /// The next reading for a write at the device's time `now`.
    mutating func next(now: Int64, replica: ReplicaID) -> Stamp {
        let physical = corrected(now)
        if physical > reading.milliseconds {
            reading = Reading(milliseconds: physical)
        } else if reading.counter == .max {
            reading = Reading(milliseconds: reading.milliseconds + 1)
        } else {
            reading.counter += 1
        }
        return Stamp(
            milliseconds: reading.milliseconds, counter: reading.counter, replica: replica)
    }

    /// Takes note of a stamp seen anywhere.
    mutating func observe(_ stamp: Stamp) { observe(Reading(stamp)) }

    mutating func observe(_ other: Reading) { reading = max(reading, other) }

    /// Takes note of a stamp that the daemon has.
    mutating func confirm(_ stamp: Stamp) {
        observe(stamp)
        confirmed = max(confirmed, Reading(stamp))
    }

    /// Goes on from a reading that may be lower than the present one: only under another replica id.
    mutating func restart(at other: Reading) { reading = other }

    /// Forgets readings that lie in the daemon's future, after the daemon has refused one: what was
    /// stamped with them is stamped again, and still later than everything that the daemon has. `others` are stamps
    /// that may be given out still. What follows is under another replica id, so no stamp is given twice.
    ///
    /// `limit` is the greatest time of a stamp that the daemon takes: it has nothing beyond, so what was confirmed
    /// beyond is of a history that is lost.
    mutating func rewind(to now: Int64, limit: Int64?, keeping others: some Sequence<Stamp>) {
        if let limit, confirmed.milliseconds > limit { confirmed = Reading() }
        let latest = limit ?? corrected(now) + WireLimits.futureMilliseconds
        if regiven.milliseconds > latest { regiven = Reading() }
        restart(at: max(Reading(milliseconds: corrected(now)), confirmed, regiven))
        let present = reading.milliseconds
        for stamp in others where stamp.milliseconds <= present { observe(stamp) }
    }

    /// Takes note of a stamp that was given in place of a refused one.
    mutating func regive(_ stamp: Stamp) { regiven = max(regiven, Reading(stamp)) }

    func corrected(_ now: Int64) -> Int64 {
        min(max(now &+ offsetMilliseconds, 0), Stamp.greatestMilliseconds)
    }
}
