/// What a report of a counter states of past days, by day, tool, project and model.
package struct LedgerImport: Sendable, Equatable {
    struct Key: Sendable, Hashable {
        /// Days since 1970, in the time zone of the report.
        var day: Int
        /// The id of the provider.
        var source: String
        /// As the report names it.
        var project: String?
        var model: String?
    }

    private(set) var amounts: [Key: UsageAmount] = [:]
    private var days: Set<Int> = []
    private var sums: [LedgerDay: UsageAmount] = [:]
    private var models: Set<String> = []
    private var projects: Set<String> = []

    package static let byteLimit = 32 << 20
    static let dayLimit = 4_000
    static let modelLimit = 200
    static let projectLimit = 1_000
    /// The most tokens of one kind in one row; no sum of them overflows.
    static let tokenLimit = 1_000_000_000_000_000
    /// The largest cost in one row, in US dollars.
    static let costLimit = 1_000_000.0
    /// The largest sum of a day and tool, so that all sums of its cells are in the range of a page.
    private static let sumLimit = 1 << 53

    /// Adds to what is known of the key.
    ///
    /// - Parameter place: for an error.
    mutating func add(_ key: Key, _ amount: UsageAmount, at place: String) throws(Failure) {
        guard amount != UsageAmount() else { return }
        days.insert(key.day)
        if let model = key.model { models.insert(model) }
        if let project = key.project { projects.insert(project) }
        if days.count > Self.dayLimit {
            throw Failure(place, "more than \(Self.dayLimit) days; import parts of it")
        }
        if models.count > Self.modelLimit { throw Failure(place, "more than \(Self.modelLimit) models") }
        if projects.count > Self.projectLimit { throw Failure(place, "more than \(Self.projectLimit) projects") }
        amounts[key, default: UsageAmount()] += amount
        let day = LedgerDay(day: key.day, source: key.source)
        sums[day, default: UsageAmount()] += amount
        if let sum = sums[day], !Self.isStorable(sum) { throw Failure(place, "the sum of its day is too large") }
    }

    private static func isStorable(_ amount: UsageAmount) -> Bool {
        ([amount.requestCount] + amount.counts.words + amount.cost.ledgerWords)
            .allSatisfy { (0...sumLimit).contains($0) }
    }

    /// Why a report cannot be imported.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        /// "daily[3].totalCost"; nil for the document.
        let place: String?
        let reason: String

        init(_ place: String?, _ reason: String) {
            self.place = place
            self.reason = reason
        }

        /// Completes "FILE: ". Not escaped.
        package var description: String { (place.map { $0 + ": " } ?? "") + reason }
    }
}

/// A day of a tool.
package struct LedgerDay: Sendable, Hashable, Comparable {
    /// Since 1970.
    package var day: Int
    /// The id of the provider.
    package var source: String

    package static func < (left: Self, right: Self) -> Bool { (left.day, left.source) < (right.day, right.source) }
}
