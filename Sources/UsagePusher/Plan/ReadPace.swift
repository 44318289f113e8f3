/// Decides how often a source is read whose files change all the time. A value without a clock.
struct ReadPace: Sendable, Equatable {
    /// Seconds from one read to the next.
    let interval: Double
    private var lastRead: Double?

    init(interval: Double) { self.interval = interval }

    /// How long to wait with a read; 0 to read now.
    ///
    /// - Parameter now: seconds on a clock that never steps.
    func wait(at now: Double) -> Double {
        lastRead.map { max(0, $0 + interval - now) } ?? 0
    }

    mutating func read(at now: Double) { lastRead = now }
}
