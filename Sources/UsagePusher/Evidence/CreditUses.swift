import Essentials

/// What one turn of a tool cost in the provider's own unit.
struct CreditUse: Sendable, Hashable {
    /// What tells that two statements are of one turn.
    var id: UInt64
    var time: Date
    var credits: Double

    /// Nil for an invalid number or time.
    init?(id: UInt64, time: Date?, credits: Double?) {
        guard let time, let credits, credits >= 0, credits <= Self.limit else { return nil }
        self.id = id
        self.time = time
        self.credits = credits
    }

    /// More than any turn costs.
    private static let limit = 1e6
}

/// The turns of a tool, each once.
struct CreditUses: Sendable, Equatable {
    private(set) var uses: [UInt64: CreditUse] = [:]

    /// Among several statements about a turn the larger counts: it grows while the turn runs.
    mutating func add(_ use: CreditUse) {
        if let known = uses[use.id], known.credits >= use.credits { return }
        uses[use.id] = use
    }

    struct Sum: Equatable {
        var credits = 0.0
        var turnCount = 0
        var last: Date?
    }

    /// The sum of the turns after a time and not after `now`.
    func sum(after start: Date, until now: Date) -> Sum {
        // In one order, so that the sum is the same in every run.
        uses.values.filter { $0.time > start && $0.time <= now }.sorted {
            ($0.time, $0.id) < ($1.time, $1.id)
        }
        .reduce(into: Sum()) { sum, use in
            sum.credits += use.credits
            sum.turnCount += 1
            sum.last = use.time
        }
    }
}
