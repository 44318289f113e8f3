import Essentials

/// Which part of the time a plot shows, and where its cursor is.
struct PlotView: Sendable, Equatable {
    /// The past that is shown, by steps of zooming in.
    static let pasts: [TimeInterval] = [7, 3, 1, 0.25].map { $0 * 86_400 }

    private(set) var zoom = 0
    /// How long ago the cursor is; nil without one.
    private(set) var cursorAge: TimeInterval?

    private var past: TimeInterval { Self.pasts[zoom] }

    mutating func zoom(by steps: Int) { zoom = min(max(0, zoom + steps), Self.pasts.count - 1) }

    /// Moves the cursor, to later with more than none.
    mutating func move(by steps: Int) {
        // About a column of a plot as wide as a text; nothing is known of less than a quarter of an hour.
        let step = max(900, past / 84)
        cursorAge = min(max(0, (cursorAge ?? 0) - Double(steps) * step), Self.pasts[0])
    }

    func cursor(at now: Date) -> Date? { cursorAge.map { now.addingTimeInterval(-$0) } }

    /// The drawn time: at most a third of it is the future, until the reset, and the cursor is in it.
    func span(at now: Date, reset: Date?) -> ClosedRange<Date> {
        let future = min(max(0, reset?.timeIntervalSince(now) ?? 0), past / 2)
        let shift = min(max(0, (cursorAge ?? 0) - past / 2), Self.pasts[0] - past)
        return now.addingTimeInterval(-past - shift)...now.addingTimeInterval(future - shift)
    }

    /// "7 days", "6 hours".
    var title: String {
        let hours = Int(past / 3_600)
        return hours > 24 ? "\(hours / 24) days" : "\(hours) hours"
    }
}
