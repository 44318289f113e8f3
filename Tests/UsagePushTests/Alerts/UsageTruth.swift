import StoreTestSupport

/// What is really used of one window after the other, by the minute.
struct UsageTruth {
    struct Minute {
        var percent: Double
        /// Counts the windows.
        var window: Int
        /// When the window ends, in minutes; reality may come before it.
        var resetsAt: Int
    }

    /// The length of a window, in minutes.
    static let length = 300

    private(set) var minutes: [Minute] = []
    /// Whether readings say when the window ends. Those that do not are all of one window, whose use may fall to
    /// nothing.
    let hasResets: Bool

    init(minutes count: Int, hasResets: Bool, _ random: inout SeededGenerator) {
        self.hasResets = hasResets
        var present = Minute(percent: 0, window: 0, resetsAt: Self.length)
        var start = 0
        for minute in 0..<count {
            // Some resets come early; the next window then ends clearly later.
            let isEarly = minute - start > 70 && Int.random(in: 0..<600, using: &random) == 0
            if minute == present.resetsAt || isEarly {
                start = minute
                present = Minute(
                    percent: 0, window: present.window + (hasResets ? 1 : 0), resetsAt: minute + Self.length)
            }
            // Whole numbers, so that thresholds and the hysteresis are met exactly.
            if Int.random(in: 0..<15, using: &random) == 0 {
                present.percent += Double(Int.random(in: 1...25, using: &random))
                present.percent = min(present.percent, 104)
            } else if Int.random(in: 0..<80, using: &random) == 0 {
                // A correction.
                present.percent -= Double(Int.random(in: 1...20, using: &random))
                present.percent = max(present.percent, 0)
            }
            minutes.append(present)
        }
    }
}
