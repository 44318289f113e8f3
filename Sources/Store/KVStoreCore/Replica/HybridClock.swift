/// A hybrid logical clock: physical milliseconds where possible, a counter where necessary.
///
/// Readings strictly increase and exceed every stamp observed, so a write always wins over what its author
/// saw. Only `rewind` and `restart` go back, and later readings are issued under another replica id.
/// Source: Kulkarni et al., "Logical Physical Clocks", 2014.
package struct HybridClock: Sendable, Equatable {
    package struct Reading: Sendable, Equatable, Comparable {
        package var milliseconds: Int64 = 0
        package var counter: UInt32 = 0

        package init(milliseconds: Int64 = 0, counter: UInt32 = 0) {
            self.milliseconds = milliseconds
            self.counter = counter
        }

        init(_ stamp: StoreStamp) {
            self.init(milliseconds: stamp.milliseconds, counter: stamp.counter)
        }

        package static func < (left: Reading, right: Reading) -> Bool {
            (left.milliseconds, left.counter) < (right.milliseconds, right.counter)
        }
    }

    /// The greatest reading issued or observed.
    private(set) var reading = Reading()
    /// The greatest reading of a stamp that the daemon holds.
    var confirmed = Reading()
    /// The greatest reading issued in place of a rejected one: the daemon may hold such a stamp without having
    /// answered.
    private(set) var reissued = Reading()
    /// The daemon's clock minus the device's, as last measured.
    var offsetMilliseconds: Int64 = 0

    /// The next reading for a write at the device's time `now`.
    mutating func next(now: Int64, replica: ReplicaID) -> StoreStamp {
        let physical = corrected(now)
        if physical > reading.milliseconds {
            reading = Reading(milliseconds: physical)
        } else if reading.counter == .max {
            reading = Reading(milliseconds: reading.milliseconds + 1)
        } else {
            reading.counter += 1
        }
        return StoreStamp(milliseconds: reading.milliseconds, counter: reading.counter, replica: replica)
    }

    /// Advances past a stamp seen anywhere.
    mutating func observe(_ stamp: StoreStamp) { observe(Reading(stamp)) }

    mutating func observe(_ other: Reading) { reading = max(reading, other) }

    /// Advances past a stamp that the daemon holds.
    mutating func confirm(_ stamp: StoreStamp) {
        observe(stamp)
        confirmed = max(confirmed, Reading(stamp))
    }

    /// Continues from a reading that may be lower than the present one: only under another replica id.
    mutating func restart(at other: Reading) { reading = other }

    /// Drops readings ahead of the daemon's clock after the daemon rejected one. Stamps issued with them are reissued,
    /// still later than everything that the daemon holds and than `others`, which may still be sent. The caller
    /// continues under another replica id, so no stamp is issued twice.
    ///
    /// - Parameter limit: the greatest time that the daemon accepts. It holds nothing beyond, so a confirmed reading
    ///   beyond belongs to a lost history.
    mutating func rewind(to now: Int64, limit: Int64?, keeping others: some Sequence<StoreStamp>) {
        if let limit, confirmed.milliseconds > limit { confirmed = Reading() }
        let latest = limit ?? corrected(now) + WireLimits.futureMilliseconds
        if reissued.milliseconds > latest { reissued = Reading() }
        restart(at: max(Reading(milliseconds: corrected(now)), confirmed, reissued))
        let present = reading.milliseconds
        for stamp in others where stamp.milliseconds <= present { observe(stamp) }
    }

    /// Notes a stamp issued in place of a rejected one.
    mutating func markReissued(_ stamp: StoreStamp) { reissued = max(reissued, Reading(stamp)) }

    func corrected(_ now: Int64) -> Int64 {
        min(max(now &+ offsetMilliseconds, 0), StoreStamp.greatestMilliseconds)
    }
}
