package import Essentials
import SnapshotModels
import TerminalText

/// What a person wants to spend at most in a day, a week or a month, on all machines.
///
/// Each is under a key of its own in the store, so that two machines that set budgets at the same time both succeed:
///
///     {"v": 1, "amount": 50, "per": "month", "provider": "claude"}
///
/// What of it is spent is a window of a card of the provider `Budget.providerID`, which every machine that pushes
/// states by the ledger of past usage.
package struct Budget: Sendable, Hashable {
    package enum Period: String, Sendable, Codable, CaseIterable, Comparable {
        case day, week, month

        private var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
        package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    package enum Unit: String, Sendable, Codable {
        case dollars, tokens

        /// "$12.50", "3.1M tokens".
        package func text(_ amount: Double) -> String {
            switch self {
            case .dollars: AmountFormatter.money(amount, currency: "USD")
            case .tokens: AmountFormatter.tokens(Self.count(amount))
            }
        }

        /// "$12.50 of $50.00", "3.1M of 5.0M tokens".
        package func text(_ amount: Double, of limit: Double) -> String {
            switch self {
            case .dollars: AmountFormatter.ratio(amount, of: limit, currency: "USD")
            case .tokens: "\(CountFormatter.abbreviated(Self.count(amount))) of \(text(limit))"
            }
        }

        /// Sums of what other machines have published may be of any size.
        private static func count(_ tokens: Double) -> Int { Int(min(max(tokens, 0), 1e18)) }
    }

    package var amount: Double
    package var unit: Unit
    package var period: Period
    /// The id of a provider; nil for all.
    package var provider: String?
    /// The key of a project in the ledger, without a name; nil for all.
    package var project: String?
    /// A name of the time zone database whose days these are; nil for that of the machine.
    package var zone: String?
    /// What the person calls it; nil for what it is about.
    package var name: String?

    package init(_ amount: Double, _ unit: Unit = .dollars, per period: Period) {
        self.amount = amount
        self.unit = unit
        self.period = period
    }

    /// The provider of the cards of budgets.
    package static let providerID = "budget"
    package static let providerName = "Budget"
    package static let countLimit = 32
    private static let keyPrefix = AlertNotice.sharedPrefix + "budget."
    private static let byteLimit = 4_096
    private static let nameLimit = 80

    /// The account that its card is of: budgets with one title are windows of one card.
    package var title: String {
        let parts = [provider, project.map { "project " + $0.prefix(6) }].compactMap { $0 }
        return name ?? (parts.isEmpty ? "all tools" : parts.joined(separator: ", "))
    }

    /// The label of its window, see `WindowLabel`.
    package var label: String {
        let text =
            switch period {
            case .day: "Daily"
            case .week: "Weekly"
            case .month: "Monthly"
            }
        return unit == .dollars ? text : text + " tokens"
    }

    /// "$50.00 per month for claude", in the words of the options that set it.
    package var text: String { "\(unit.text(amount)) per \(period.rawValue) for \(title)" }

    /// Whether one replaces the other: they differ in amount and name alone.
    package func hasSameScope(as other: Budget) -> Bool { scopeText == other.scopeText }

    private var scopeText: String {
        [provider, project, unit.rawValue, period.rawValue].map { $0 ?? "" }.joined(separator: "\0")
    }

    package var storeKey: String { Self.keyPrefix + AlertMark.hash(scopeText) }

    package static func isKey(_ key: String) -> Bool { key.hasPrefix(keyPrefix) }

    /// Those among the values of a store, in the order of their keys; what is none is left out.
    package static func all(in values: [String: Data]) -> [Budget] {
        Array(
            values.keys.filter(isKey).sorted().lazy
                .compactMap { values[$0].flatMap { StoredJSON.decode(Budget.self, from: $0, byteLimit: byteLimit) } }
                .prefix(countLimit))
    }

    package var data: Data { StoredJSON.data(of: self) }

    /// Whether it can be one: the amount and the texts are within their bounds.
    package var isValid: Bool {
        let limits = unit == .dollars ? 0.01...1e9 : 1...1e15
        return limits.contains(amount)
            && [provider, project, zone, name].allSatisfy {
                $0.map { VisibleText.isLine($0, byteLimit: Self.nameLimit) } ?? true
            }
    }

    /// Whether it is a window of a card.
    func isOf(_ card: ProviderUsageSnapshot) -> Bool {
        card.providerID == Self.providerID && card.accountKey == title.lowercased()
    }

    /// Whether a call of a tool counts.
    func counts(_ request: GateRequest) -> Bool {
        (provider ?? request.provider) == request.provider && (project == nil || project == request.project)
    }
}

extension Budget: Codable {
    private enum CodingKeys: String, CodingKey { case v, amount, unit, per, provider, project, zone, name }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try fields.decode(Double.self, forKey: .amount),
            try fields.decodeIfPresent(Unit.self, forKey: .unit) ?? .dollars,
            per: try fields.decode(Period.self, forKey: .per))
        provider = try fields.decodeIfPresent(String.self, forKey: .provider)
        project = try fields.decodeIfPresent(String.self, forKey: .project)
        zone = try fields.decodeIfPresent(String.self, forKey: .zone)
        name = try fields.decodeIfPresent(String.self, forKey: .name)
        guard isValid else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "out of bounds"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .v)
        try fields.encode(amount, forKey: .amount)
        if unit != .dollars { try fields.encode(unit, forKey: .unit) }
        try fields.encode(period, forKey: .per)
        try fields.encodeIfPresent(provider, forKey: .provider)
        try fields.encodeIfPresent(project, forKey: .project)
        try fields.encodeIfPresent(zone, forKey: .zone)
        try fields.encodeIfPresent(name, forKey: .name)
    }
}

extension SyncedUsageSnapshot {
    /// Without the cards of budgets that are no longer set: a machine that sleeps still states them.
    func withoutBudgets(except budgets: [Budget]) -> SyncedUsageSnapshot {
        var copy = self
        copy.providers.removeAll { card in
            card.providerID == Budget.providerID && !budgets.contains { $0.isOf(card) }
        }
        return copy
    }
}
