import SnapshotModels

/// Whether a script may go on: the answer of `usage-view check`.
package struct UsageGate: Sendable, Equatable {
    package enum Outcome: String, Sendable, Codable {
        /// No selected window is over the threshold.
        case safe
        /// At least one is.
        case over
        /// No selected window has a percentage of now.
        case unknown
    }

    package let outcome: Outcome
    /// The known window that is closest to its limit; nil if none is known.
    package let deciding: UsageItem?
    /// All selected windows, in display order.
    package let items: [UsageItem]
    package let maxPercent: Double
    /// Why nothing is known; nil otherwise.
    package let reason: String?

    /// Estimates count as what they say. Expired numbers do not count, and stale ones only if they are over the
    /// threshold: use only grows until the reset.
    ///
    /// - Parameter maxPercent: more used than this is over the threshold.
    package init(_ model: ViewModel, selection: UsageSelection, maxPercent: Double) {
        let states = model.providers
        items = selection.items(of: states, at: model.now)
        self.maxPercent = maxPercent
        let known = items.filter { $0.condition.isKnown || $0.isAtLeast && $0.usedPercent ?? 0 > maxPercent }
        deciding = known.min { ($0.remainingPercent ?? .infinity) < ($1.remainingPercent ?? .infinity) }
        guard let used = deciding?.usedPercent else {
            outcome = .unknown
            reason = selection.absence(in: model, items: items)
            return
        }
        outcome = used > maxPercent ? .over : .safe
        reason = nil
    }
}

extension UsageSelection {
    /// Why no number of now is selected, as a sentence without a full stop.
    package func absence(in model: ViewModel, items: [UsageItem]) -> String {
        let states = model.providers
        if states.isEmpty {
            return model.situation == .noProviders
                ? "no machine that pushed has found a tool with limits" : "nothing has been pushed yet"
        }
        if let name = unknownProvider(among: states) {
            return Self.absence(of: "provider", name, known: states.map(\.snapshot.providerID))
        }
        if let account, accounts(of: states).isEmpty {
            let others = UsageSelection(providers: providers).accounts(of: states)
            return Self.absence(of: "account", account, known: others.compactMap(\.snapshot.accountEmail))
        }
        if items.isEmpty { return "no window matches" }
        if items.contains(where: { $0.condition == .clockAhead }) {
            return "the numbers are from the future: a clock is wrong"
        }
        if items.contains(where: { $0.condition.hasPercent }) { return "the numbers are old" }
        if items.contains(where: { $0.condition == .expired }) { return "a limit was reset since it was last read" }
        return items.contains { $0.condition == .error } ? "the limits could not be read" : "no limits are reported"
    }

    /// "no provider 'cluade'; known: claude, codex".
    static func absence(of kind: String, _ name: String, known: [String]) -> String {
        "no \(kind) '\(name)'; known: " + (known.isEmpty ? "none" : Set(known).sorted().joined(separator: ", "))
    }
}
