/// A point in time on both clocks: the one users read, and the one intervals are measured with.
package struct Instant: Sendable, Equatable {
    /// Milliseconds since 1970 on the device's clock, which may be wrong and may step.
    package var wall: Int64
    /// Milliseconds on a clock that never steps.
    package var monotonic: Int64

    package init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}

/// A random number generator whose whole state is a value, so that a replica can be copied and replayed.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable, Equatable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
