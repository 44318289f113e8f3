package import Essentials

/// The rules of a machine, in a file, or of the account, each under a key of its own in the store, so that two machines
/// that set rules at the same time both succeed.
///
///     {"v": 1, "staleAfter": 3600, "rules": [{"provider": "claude", "window": "weekly", "at": 95, "then": "pause"}]}
///
/// A rule that cannot be used is left out, because a rule that says something else than was meant could stop somebody.
package struct GateRules: Sendable, Equatable {
    package var rules: [GateRule] = []
    /// Seconds after which a reading says nothing; nil for the default hour.
    package var staleAfter: TimeInterval?
    /// Why some or all rules are missing; nil if none is.
    package private(set) var issue: String?

    private static let keyPrefix = AlertNotice.sharedPrefix + "gate.rule."
    package static let countLimit = 32
    package static let byteLimit = 16_384

    package init(_ rules: [GateRule] = []) { self.rules = rules }

    /// What `usage-view gate install` begins with.
    package static let defaults = GateRules([
        GateRule(.used(percent: 90), then: .tell), GateRule(.used(percent: 98), then: .stop),
    ])

    /// The rules of the account, in the order of their keys.
    package init(stored values: [String: Data]) {
        let keys = values.keys.filter(Self.isKey).sorted()
        rules = Array(
            keys.compactMap { key in
                values[key].flatMap { StoredJSON.decode(GateRule.self, from: $0, byteLimit: Self.byteLimit) }
            }.prefix(Self.countLimit))
        reportMissing(of: keys.count)
    }

    package static func isKey(_ key: String) -> Bool { key.hasPrefix(keyPrefix) }

    /// Where a rule of the account is stored: rules with the same scope replace each other.
    package static func storeKey(of rule: GateRule) -> String { keyPrefix + AlertMark.hash(rule.scopeText) }

    private mutating func reportMissing(of count: Int) {
        let missing = count - rules.count
        if missing > 0 { issue = "\(missing) of \(count) rules cannot be used" }
    }

    /// None for what is damaged or too long, with the reason.
    package init(reading data: Data?) {
        guard let data else { return }
        if data.count > Self.byteLimit {
            issue = "the rules are longer than 16 KiB"
        } else if let rules = try? JSONDecoder().decode(GateRules.self, from: data) {  // Else damaged, said below.
            self = rules
        } else {
            issue = "the rules cannot be read"
        }
    }

    package var data: Data {
        JSONEncoder.sorted(isIndented: true).data(of: self) + Data("\n".utf8)
    }

    /// Adds a rule in place of one about the same numbers with the same action.
    package mutating func set(_ rule: GateRule) {
        if let index = rules.firstIndex(where: { $0.hasSameScope(as: rule) }) {
            rules[index] = rule
        } else {
            rules.append(rule)
        }
    }

    /// Both together; the stricter of two that apply wins, and the shorter age.
    package func joined(with other: GateRules) -> GateRules {
        var both = GateRules(rules + other.rules)
        both.staleAfter = [staleAfter, other.staleAfter].compactMap { $0 }.min()
        both.issue = [issue, other.issue].compactMap { $0 }.first
        return both
    }
}

extension GateRules: Codable {
    private enum CodingKeys: String, CodingKey { case v, staleAfter, rules }

    /// A rule, or nothing where there is something else.
    private struct Slot: Decodable {
        var rule: GateRule?
        init(from decoder: any Decoder) { rule = try? GateRule(from: decoder) }  // As described at the type.
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let slots = try fields.decode([Slot].self, forKey: .rules)
        rules = Array(slots.compactMap(\.rule).prefix(Self.countLimit))
        if let seconds = fields.setting(.staleAfter, as: Double.self), (60...86_400).contains(seconds) {
            staleAfter = seconds
        }
        reportMissing(of: slots.count)
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .v)
        try fields.encodeIfPresent(staleAfter, forKey: .staleAfter)
        try fields.encode(rules, forKey: .rules)
    }
}
