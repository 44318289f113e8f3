/// Milliseconds since 1970 by the clock of the device that wrote it.
package struct Timestamp: Codable, Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// How long after an earlier time; negative if that is later. Saturates.
    package func milliseconds(since earlier: Self) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return difference }
        return milliseconds < earlier.milliseconds ? .min : .max
    }
}
