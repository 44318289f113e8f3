package import KVStoreCore

/// A version of a key that a sentence can name.
package protocol DecisionVersion: Sendable {
    var stamp: StoreStamp { get }
    /// The device that wrote it.
    var writer: String { get }
    /// The value, abbreviated; nil for a removal.
    var valueText: String? { get }
}

extension DecisionVersion {
    /// The value and its writer: `"dark" of phone`.
    package var text: String { "\(valueText ?? "the removal") of \(writer)" }
}

extension Decision where Version: DecisionVersion {
    /// One sentence.
    ///
    /// - Parameters:
    ///   - place: where it was made, with its preposition.
    ///   - server: what the daemon of the devices is called.
    package func sentence(_ place: String, server: String) -> String {
        "\(key) \(place): \(outcome) because \(explanation(server))"
    }

    private var outcome: String {
        switch (winner, incoming?.text, present?.text) {
        case (.incoming, let incoming?, let present?): "\(incoming) replaced \(present)"
        case (.incoming, let incoming?, nil): "\(incoming) was accepted"
        case (.incoming, nil, let present?): "\(present) was removed"
        case (.incoming, nil, nil): "nothing changed"
        case (.present, let incoming?, let present?): "\(present) stayed, not \(incoming)"
        case (.present, let incoming?, nil): "\(incoming) was not accepted"
        case (.present, nil, let present?): "\(present) stayed"
        case (.present, nil, nil): "a write was dropped"
        }
    }

    private func explanation(_ server: String) -> String {
        switch reason {
        case .nothingThere: "there was no other value"
        case .greaterStamp: "it was written \(distance)later (greater stamp)"
        case .greaterBytes: "at equal stamps the greater bytes win"
        case .provisionalGaveWay: "values set before the first download give way to the \(server)"
        case .provisionalKept: "the \(server) has no value of the key; it is sent"
        case .removalForgotten: "the \(server) has forgotten the removal"
        case .goneFromCloud: "the \(server) removed it long ago"
        case .refusedForQuota(let limit?): "the quota is \(limit)"
        case .refusedForQuota(nil): "it exceeds the device's quota"
        case .refusedForClock: "its stamp is ahead of the \(server)'s clock; it is reissued and sent again"
        case .refusedForKey: "the key is invalid"
        case .refusedForNow: "the answer was full; it is sent again"
        }
    }

    /// The difference of the stamps in seconds; empty if there is none.
    private var distance: String {
        guard let incoming, let present else { return "" }
        let milliseconds = abs(incoming.stamp.milliseconds - present.stamp.milliseconds)
        return milliseconds == 0 ? "" : "\(Double(milliseconds) / 1_000) s "
    }
}

/// Where the value of a key comes from, for the message of a failing test.
package enum DecisionExplanation {
    /// - Parameters:
    ///   - holders: those that hold a version of the key now, with its text.
    ///   - decisions: oldest first, each with its time; the latest ten are listed.
    package static func text(
        of key: StoreKey, holders: [(name: String, text: String)], decisions: [(time: String, sentence: String)]
    ) -> String {
        var lines = ["\"\(key)\" now:"] + holders.map { "  \($0.name): \($0.text)" }
        if !decisions.isEmpty { lines.append("decisions:") }
        let earlier = decisions.count - 10
        if earlier > 0 { lines.append("  (\(earlier) earlier ones)") }
        lines += decisions.suffix(10).map { "  \($0.time) \($0.sentence)" }
        return lines.joined(separator: "\n")
    }

    /// In place of the version of a key that there is none of.
    package static let noValue = "no value"
}
