package import Essentials

/// What is worth an alert.
package struct AlertRules: Sendable, Equatable {
    /// Numbers that cause no alert unless the user asks.
    package enum Doubt: String, Sendable, CaseIterable, Codable {
        /// Observed more than an hour ago, or by a clock that is ahead.
        case stale
        /// Already old when pushed.
        case cached
        case estimates
    }

    /// Percentages used, ascending.
    package var thresholds: [Double] = [50, 75, 90]
    /// Instead of `thresholds`, by scope: "claude/weekly", "*/weekly" or "claude"; none for an empty list.
    package var scopes: [String: [Double]] = [:]
    /// Whether 100 % is worth an alert.
    package var reached = true
    /// A reset is worth one if at least this percentage had been used; nil for none.
    package var resetFrom: Double? = 75
    /// Whether a limit that runs out before its reset is.
    package var runsOut = true
    /// Whether a device that no longer pushes is.
    package var silence = true
    /// Whether a paused agent is.
    package var pauses = true
    package var doubts: Set<Doubt> = []

    package init() {}

    /// Points by which use must fall below a threshold before it is passed again.
    package static let hysteresis = 5.0
    /// Seconds without a push after which a device is silent.
    package static let silentAge: TimeInterval = 3_600
    package static let thresholdLimit = 10
    package static let scopeLimit = 64

    /// The thresholds in order, without repetitions; nil if there are too many or one is not between 1 and 99.
    package static func valid(_ thresholds: [Double]) -> [Double]? {
        let sorted = Set(thresholds).sorted()
        return sorted.count <= thresholdLimit && sorted.allSatisfy((1...99).contains) ? sorted : nil
    }

    /// The key of `scopes` that a user means; nil for a text that can be none.
    package static func scope(_ text: String) -> String? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= 200, parts.allSatisfy({ !$0.isEmpty }), text != "*" else { return nil }
        return text.lowercased()
    }

    /// What is passed in ascending order, 100 for a limit that is reached. The narrowest scope counts.
    func levels(provider: String, window: WindowLabel) -> [Double] {
        let names = window.names
        let keys = names.map { provider + "/" + $0 } + names.map { "*/" + $0 } + [provider]
        let chosen = keys.lazy.compactMap { scopes[$0.lowercased()] }.first ?? thresholds
        return reached ? chosen + [100] : chosen
    }
}

extension AlertRules: Codable {
    private enum CodingKeys: String, CodingKey {
        case thresholds, scopes, reached, resetFrom, runsOut, silence, pauses, doubts
    }

    /// What is missing or cannot be used has its default.
    package init(from decoder: any Decoder) throws {
        self.init()
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        if let value = fields.setting(.thresholds, as: [Double].self) { thresholds = Self.valid(value) ?? thresholds }
        let stated = fields.setting(.scopes, as: [String: [Double]].self) ?? [:]
        for (key, value) in stated.sorted(by: { $0.key < $1.key }).prefix(Self.scopeLimit) {
            scopes[key] = Self.valid(value)
        }
        reached = fields.setting(.reached) ?? reached
        if (try? fields.decodeNil(forKey: .resetFrom)) == true {  // A missing one keeps its default.
            resetFrom = nil
        } else if let value = fields.setting(.resetFrom, as: Double.self),
            (1...100).contains(value)
        {
            resetFrom = value
        }
        runsOut = fields.setting(.runsOut) ?? runsOut
        silence = fields.setting(.silence) ?? silence
        pauses = fields.setting(.pauses) ?? pauses
        let names = fields.setting(.doubts, as: [String].self) ?? []
        doubts = Set(names.compactMap(Doubt.init))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(thresholds, forKey: .thresholds)
        try fields.encode(scopes, forKey: .scopes)
        try fields.encode(reached, forKey: .reached)
        try fields.encode(resetFrom, forKey: .resetFrom)
        try fields.encode(runsOut, forKey: .runsOut)
        try fields.encode(silence, forKey: .silence)
        try fields.encode(pauses, forKey: .pauses)
        try fields.encode(doubts.map(\.rawValue).sorted(), forKey: .doubts)
    }
}
