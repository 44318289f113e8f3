extension Duration {
    /// Whole milliseconds, rounded up.
    package var millisecondsRoundedUp: Int64 {
        milliseconds + (self > .milliseconds(milliseconds) ? 1 : 0)
    }

    /// Whole milliseconds, cut toward zero, and limited so that they can be added to a time.
    package var milliseconds: Int64 {
        let limit = Int64.max / 4_000
        return min(max(components.seconds, -limit), limit) * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
