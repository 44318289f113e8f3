/// What the person chose about how numbers are shown.
struct ViewOptions: Sendable, Equatable {
    enum Measure: String, Sendable, CaseIterable, Codable {
        case used, left

        var other: Measure { self == .used ? .left : .used }
    }

    enum SortOrder: String, Sendable, CaseIterable {
        /// By provider id, then account.
        case name
        /// The account closest to a limit first.
        case tightest

        var next: SortOrder { self == .name ? .tightest : .name }
    }

    /// Whether percents and bars say what is used or what is left.
    var measure: Measure = .used
    /// Resets as clock times in the viewer's zone instead of countdowns.
    var isAbsolute = false
    var sortOrder: SortOrder = .name
    /// False where the locale or the terminal shows ASCII only.
    var isUnicode = true
}
