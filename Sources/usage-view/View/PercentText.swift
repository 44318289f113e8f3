/// A percent as people read it.
enum PercentText {
    /// Whole percents, never rounded over a border that matters: more than nothing is at least
    /// "<1 %", less than everything at most "99 %". Not clamped: "105 %", "-5 %".
    ///
    /// `isLeft` rounds halves down, so that used and left add up to 100.
    static func text(_ percent: Double, isLeft: Bool = false) -> String {
        if percent > 0, percent < 1 { return "<1 %" }
        if percent > 99, percent < 100 { return "99 %" }
        let rounded = isLeft ? (percent - 0.5).rounded(.up) : (percent + 0.5).rounded(.down)
        return "\(Int(min(max(rounded, -999_999), 999_999))) %"
    }
}
