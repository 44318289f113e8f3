/// Milliseconds since 1970 by the clock of the device that wrote it.
struct Timestamp: Codable, Hashable, Comparable, Sendable {
    var milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// How long after an earlier time; negative if that is later. Saturates.
    func milliseconds(since earlier: Self) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return difference }
        return milliseconds < earlier.milliseconds ? .min : .max
    }
}
