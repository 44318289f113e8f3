import Essentials
import SnapshotModels

/// One of Claude's limits: session, weekly, weekly for one model, or on spending.
struct ClaudeWindow: Sendable, Hashable {
    var kind: WindowKind
    /// The model or surface it applies to; nil for all.
    var scope: String?

    static let session = ClaudeWindow(kind: .session)
    static let weekly = ClaudeWindow(kind: .weekly)
    static let spending = ClaudeWindow(kind: .unstated, scope: "Spend limit")

    /// Products by the code names in the provider's field names.
    private static let codeNames = ["omelette": "Claude Design"]

    /// The provider's names for no model in particular.
    private static let everything: Set<String> = ["all models", "all-models"]

    init(kind: WindowKind, scope: String? = nil) {
        self.kind = kind
        self.scope = scope.flatMap { Self.everything.contains($0.lowercased()) ? nil : $0 }
    }

    /// The shortest window whose reset can be `seconds` after a rejected request.
    init(resetAfter seconds: TimeInterval) {
        self = seconds <= WindowKind.session.seconds + 600 ? .session : .weekly
    }

    /// Completes "the … limit".
    var limit: String { [scope, kind.name].compactMap { $0 }.joined(separator: " ") }

    /// From Claude Code's names ("five_hour", "seven_day", "seven_day_opus", "spend_limit") and the object that the
    /// name stands for, which may name a model.
    ///
    /// A name of several words ("seven_day_overage_included") is no model's: the label is then the object's, and
    /// without one there is no window.
    init?(name: String, fields: JSONFields? = nil) {
        guard name.utf8.count <= 48 else { return nil }
        if name == "spend_limit" {
            self = .spending
            return
        }
        for (prefix, kind) in [("five_hour", WindowKind.session), ("seven_day", .weekly)] {
            guard name.hasPrefix(prefix) else { continue }
            let words = name.dropFirst(prefix.count).split(separator: "_")
            let isJoined = name.dropFirst(prefix.count).hasPrefix("_") && !words.isEmpty
            guard isJoined || name.count == prefix.count else { return nil }
            let model = fields.flatMap(Self.scope)
            let word = words.count == 1 ? String(words[0]) : nil
            if let scope = model ?? word.map({ Self.codeNames[$0] ?? $0.capitalized }) {
                self.init(kind: kind, scope: scope.displayText(limit: 48))
            } else if words.isEmpty {
                self.init(kind: kind)
            } else {
                return nil
            }
            return
        }
        return nil
    }

    /// The model or surface that an object of Claude Code's applies to.
    static func scope(of fields: JSONFields) -> String? {
        let scope = fields.fields("scope")
        let name =
            scope?.fields("model")?.text("display_name", "id")
            ?? scope?.fields("surface")?.text("display_name", "id") ?? scope?.text("surface")
        return name?.displayText(limit: 48)
    }

    /// The reading of this window; nil without a percentage.
    func reading(
        _ percent: Double?, resetsAt: Date?, observedAt: Date, account: String? = nil, origin: LimitReading.Origin
    ) -> LimitReading? {
        guard let percent else { return nil }
        let window = LimitReading.Window(kind: kind, usedPercent: percent, resetsAt: resetsAt)
        return LimitReading(
            limit: limit, label: scope, windows: [window], observedAt: observedAt, account: account, origin: origin)
    }
}
