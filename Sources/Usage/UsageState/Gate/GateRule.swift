package import Essentials
import TerminalText

/// When an agent is notified of a limit, asked, paused or stopped.
package struct GateRule: Sendable, Equatable {
    /// From the mildest to the strictest.
    package enum Action: String, Sendable, Codable, CaseIterable, Comparable {
        /// The model gets one sentence, once for each session and period of the window.
        case tell
        /// The tool's own permission dialogue; where it has none, as `tell`.
        case ask
        /// The call waits for the reset, at most `waitLimit`, and then goes on.
        case pause
        /// The turn ends.
        case stop

        private var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
        package static func < (left: Action, right: Action) -> Bool { left.number < right.number }
    }

    package enum Threshold: Sendable, Equatable {
        /// This percentage or more is used.
        case used(percent: Double)
        /// At the pace so far the limit is reached before its reset, and within these seconds.
        case runsOut(within: TimeInterval)
    }

    /// An id or a name; nil for all.
    package var provider: String?
    package var account: String?
    /// A label, as `WindowLabel.names`; nil for all that apply to the model in use.
    package var window: String?
    package var threshold: Threshold
    package var action: Action
    /// Seconds that `pause` waits at most.
    package var waitLimit: TimeInterval = Self.defaultWaitLimit
    /// An absolute path: only for agents that work there or below; nil for everywhere.
    package var directory: String?

    package static let defaultWaitLimit: TimeInterval = 6 * 3_600
    package static let maximumWaitLimit: TimeInterval = 24 * 3_600
    package static let textLimit = 200
    package static let pathLimit = 4_096

    package init(
        provider: String? = nil, account: String? = nil, window: String? = nil, _ threshold: Threshold,
        then action: Action
    ) {
        self.provider = provider
        self.account = account
        self.window = window
        self.threshold = threshold
        self.action = action
    }

    /// Whether a rule can be one: numbers and texts are within their bounds.
    package var isValid: Bool {
        let isThreshold =
            switch threshold {
            case .used(let percent): (1...1_000).contains(percent)
            case .runsOut(let seconds): (60...30 * 86_400).contains(seconds)
            }
        return isThreshold && (60...Self.maximumWaitLimit).contains(waitLimit)
            && [provider, account, window].allSatisfy {
                $0.map { (1...Self.textLimit).contains($0.utf8.count) } ?? true
            }
            && directory.map { $0.hasPrefix("/") && $0.utf8.count <= Self.pathLimit } ?? true
    }

    /// Whether it applies to agents that work in a directory, by any of its paths.
    func covers(directories: [String]) -> Bool {
        guard let directory else { return true }
        let names = Self.names(in: directory)
        return directories.contains { Self.names(in: $0).starts(with: names) }
    }

    /// The same for "/a/b" and "/a/./b/".
    private static func names(in path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    /// Whether it is about what is spent of budgets, whichever tool is used.
    package var isOfBudget: Bool { UsageSelection.isSame(Budget.providerID, provider) }

    /// Whether one replaces the other: they differ in numbers alone.
    package func hasSameScope(as other: GateRule) -> Bool { scopeText == other.scopeText }

    /// What the rule is about and what it does, without its numbers.
    var scopeText: String {
        [provider, account, window, directory, action.rawValue].map { $0 ?? "" }.joined(separator: "\0")
    }

    package var data: Data { StoredJSON.data(of: self) }

    /// "claude weekly at 95 %: pause for at most 6h", in the words of the options that set it.
    package var text: String {
        let subject = [provider, account, window ?? "any limit"].compactMap { $0 }
        let limit =
            switch threshold {
            case .used(let percent): "at " + AmountFormatter.percent(percent)
            case .runsOut(let seconds): "when it runs out within " + Self.duration(seconds)
            }
        let bound = action == .pause ? " for at most " + Self.duration(waitLimit) : ""
        return subject.joined(separator: " ") + " \(limit): \(action.rawValue)\(bound)"
            + (directory.map { " in \($0)" } ?? "")
    }

    private static func duration(_ seconds: TimeInterval) -> String {
        DurationFormatter.length(minutes: (seconds / 60).wholeSeconds)
    }
}

extension GateRule {
    /// Why the rule is about no limit that is known: "no window 'wekly'; known: Session (5h), Weekly"; nil if it is.
    package func absence(in usage: GateUsage) -> String? {
        let all = usage.accounts.filter { ($0.budgets != nil) == isOfBudget }
        let named = all.filter { account in provider.map(account.isProvider(named:)) ?? true }
        if let provider, named.isEmpty {
            return UsageSelection.absence(of: "provider", provider, known: all.map(\.provider))
        }
        let chosen = named.filter { of in account.map { UsageSelection.isSame($0, of.account) } ?? true }
        if let account, chosen.isEmpty {
            return UsageSelection.absence(of: "account", account, known: named.compactMap(\.account))
        }
        let windows = chosen.flatMap(\.windows)
        guard let window, !windows.contains(where: { $0.names.contains { UsageSelection.isSame(window, $0) } }) else {
            return nil
        }
        return UsageSelection.absence(of: "window", window, known: windows.map(\.label))
    }

    /// Why nobody can mean a provider; nil for one that was pushed from any machine, or that can be.
    package static func misspelling(
        of provider: String, in usage: GateUsage, sources: [(id: String, name: String)]
    ) -> String? {
        let pushed = usage.accounts.map { (id: $0.provider, name: $0.name) }
        let known = pushed + sources + [(id: Budget.providerID, name: Budget.providerID)]
        let isKnown = known.contains { [$0.id, $0.name].contains { UsageSelection.isSame(provider, $0) } }
        return isKnown ? nil : UsageSelection.absence(of: "provider", provider, known: known.map(\.id))
    }
}

extension GateRule: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case provider, account, window, at, runsOutWithin, then, atMost, directory
    }

    private struct Anything: Decodable {
        init(from _: any Decoder) {}
    }

    package init(from decoder: any Decoder) throws {
        let names = Set(try [String: Anything](from: decoder).keys)
        // Without a member that narrows it, the rule would be about more than was meant.
        if let unknown = names.subtracting(CodingKeys.allCases.map(\.rawValue)).min() {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "unknown member '\(unknown)'"))
        }
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let percent = try fields.decodeIfPresent(Double.self, forKey: .at)
        let threshold: Threshold
        if let percent {
            threshold = .used(percent: percent)
        } else {
            threshold = .runsOut(within: try fields.decode(Double.self, forKey: .runsOutWithin))
        }
        self.init(
            provider: try fields.decodeIfPresent(String.self, forKey: .provider),
            account: try fields.decodeIfPresent(String.self, forKey: .account),
            window: try fields.decodeIfPresent(String.self, forKey: .window), threshold,
            then: try fields.decode(Action.self, forKey: .then))
        waitLimit = try fields.decodeIfPresent(Double.self, forKey: .atMost) ?? waitLimit
        directory = try fields.decodeIfPresent(String.self, forKey: .directory)
        guard isValid else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "out of bounds"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(provider, forKey: .provider)
        try fields.encodeIfPresent(account, forKey: .account)
        try fields.encodeIfPresent(window, forKey: .window)
        switch threshold {
        case .used(let percent): try fields.encode(percent, forKey: .at)
        case .runsOut(let seconds): try fields.encode(seconds, forKey: .runsOutWithin)
        }
        try fields.encode(action, forKey: .then)
        if action == .pause { try fields.encode(waitLimit, forKey: .atMost) }
        try fields.encodeIfPresent(directory, forKey: .directory)
    }
}
