package import Essentials
import SnapshotModels
import TerminalText

/// A call of a tool that a decision is about.
package struct GateRequest: Sendable, Equatable {
    package var provider: String
    /// As the tool names it; nil if it does not say.
    package var model: String?
    /// Absolute paths of the working directory: as the tool states it, and without links.
    package var directories: [String]
    /// The key of the project, see `Budget.project`; nil unless it is known.
    package var project: String?
    /// When the call was made. A reading that was fresh then stays valid while the call is paused.
    package var madeAt: Date

    package init(provider: String, model: String? = nil, directory: String? = nil, madeAt: Date) {
        self.provider = provider
        self.model = model
        directories = directory.map { [$0] } ?? []
        self.madeAt = madeAt
    }
}

/// What one rule says about one window.
package struct GateVerdict: Sendable, Equatable {
    /// Why a rule does nothing. In this order the first is said of several.
    package enum Reason: String, Sendable, Codable, CaseIterable {
        case damaged, absent, stale, clockAhead, contradicted, estimate, expired, unknownModel
        case below, otherModel, otherDirectory, otherAccount, noWindow, noRule
    }

    package enum Outcome: Sendable, Equatable {
        case applies
        case allows(Reason)
    }

    package var rule: GateRule
    package var account: GateUsage.Account?
    package var window: GateUsage.Window?
    package var outcome: Outcome

    /// When the number was observed.
    package var observedAt: Date? { window?.observedAt ?? account?.observedAt }
    fileprivate var applies: Bool { outcome == .applies }
    fileprivate var used: Double { window?.used ?? 0 }
}

/// Whether a call may be made: a function of rules, numbers, request and time alone. What is not known allows.
package struct GateDecision: Sendable, Equatable {
    /// The rule and the window that decide; nil if all allow.
    package let verdict: GateVerdict?
    /// Why the call is allowed; nil if it is not.
    package let reason: GateVerdict.Reason?
    /// What all rules say, in their order.
    package let verdicts: [GateVerdict]
    /// What is damaged or missing; nil if nothing is.
    package let issue: String?

    /// Nil to allow.
    package var action: GateRule.Action? { verdict?.rule.action }

    /// - Parameter own: the rules of this machine.
    package init(_ usage: GateUsage, own: GateRules, _ request: GateRequest, now: Date) {
        let rules = usage.rules.joined(with: own)
        issue = usage.issue ?? rules.issue
        var verdicts: [GateVerdict] = []
        var decisive: [GateVerdict] = []
        for rule in rules.rules where rule.isOfBudget || usage.isProvider(request.provider, named: rule.provider) {
            let (all, strictest) = Self.verdicts(of: rule, usage, request, staleAfter: rules.staleAfter, now: now)
            verdicts += all
            decisive += strictest.map { [$0] } ?? []
        }
        self.verdicts = verdicts
        verdict = decisive.max { ($0.rule.action, $0.used) < ($1.rule.action, $1.used) }
        if verdict != nil {
            reason = nil
        } else if usage.issue != nil {
            reason = .damaged
        } else {
            let reasons = verdicts.compactMap { verdict -> GateVerdict.Reason? in
                if case .allows(let reason) = verdict.outcome { reason } else { nil }
            }
            reason =
                GateVerdict.Reason.allCases.first(where: reasons.contains) ?? (rules.issue == nil ? .noRule : .damaged)
        }
    }

    /// All, and the one that decides. Unless the rule names an account, those of this machine count, or without any
    /// all; of several nobody knows which one is in use: it applies if it does to each. A budget counts where the call
    /// does.
    private static func verdicts(
        of rule: GateRule, _ usage: GateUsage, _ request: GateRequest, staleAfter: TimeInterval?, now: Date
    ) -> ([GateVerdict], GateVerdict?) {
        func allowing(_ reason: GateVerdict.Reason) -> ([GateVerdict], GateVerdict?) {
            ([GateVerdict(rule: rule, outcome: .allows(reason))], nil)
        }
        guard rule.covers(directories: request.directories) else { return allowing(.otherDirectory) }
        let present = usage.accounts.filter {
            rule.isOfBudget
                ? $0.budgets?.contains { $0.counts(request) } ?? false : $0.isProvider(named: request.provider)
        }
        if present.isEmpty { return allowing(.absent) }
        let here = present.filter(\.isLocal)
        let accounts =
            rule.account.map { named in
                present.filter { UsageSelection.isSame(named, $0.account) }
            } ?? (here.isEmpty ? present : here)
        if accounts.isEmpty { return allowing(.otherAccount) }
        var all: [GateVerdict] = []
        var strictest: [GateVerdict] = []
        for account in accounts {
            let windows = account.windows.filter { window in
                rule.window.map { wanted in window.names.contains { UsageSelection.isSame(wanted, $0) } } ?? true
            }
            let verdicts =
                windows.isEmpty
                ? [GateVerdict(rule: rule, account: account, outcome: .allows(.noWindow))]
                : windows.map { window in
                    GateVerdict(
                        rule: rule, account: account, window: window,
                        outcome: outcome(rule, account, window, request, staleAfter: staleAfter, now: now))
                }
            all += verdicts
            if let first = verdicts.filter(\.applies).max(by: { $0.used < $1.used }) { strictest.append(first) }
        }
        if rule.isOfBudget { return (all, strictest.max { $0.used < $1.used }) }
        return (all, strictest.count == accounts.count ? strictest.min { $0.used < $1.used } : nil)
    }

    private static func outcome(
        _ rule: GateRule, _ account: GateUsage.Account, _ window: GateUsage.Window, _ request: GateRequest,
        staleAfter: TimeInterval?, now: Date
    ) -> GateVerdict.Outcome {
        guard let counts = window.counts(for: request.model) else { return .allows(.unknownModel) }
        guard counts else { return .allows(.otherModel) }
        if let end = window.resetsAt, end <= now { return .allows(.expired) }
        let observedAt = window.observedAt ?? account.observedAt
        if observedAt > now.addingTimeInterval(SnapshotMerge.clockTolerance) { return .allows(.clockAhead) }
        let age = request.madeAt.timeIntervalSince(observedAt)
        if age > staleAfter ?? Freshness.staleAge { return .allows(.stale) }
        if account.isEstimate { return .allows(.estimate) }
        if window.isContradicted(observedAt: observedAt) { return .allows(.contradicted) }
        switch rule.threshold {
        case .used(let percent): return window.used >= percent ? .applies : .allows(.below)
        case .runsOut(let seconds):
            guard let end = window.used >= 100 ? now : window.runsOutAt else { return .allows(.below) }
            return end.timeIntervalSince(now) <= seconds ? .applies : .allows(.below)
        }
    }
}

extension GateUsage {
    /// Whether a rule means the provider of a request.
    fileprivate func isProvider(_ id: String, named name: String?) -> Bool {
        guard let name else { return true }
        return UsageSelection.isSame(name, id)
            || accounts.contains { $0.isProvider(named: id) && $0.isProvider(named: name) }
    }
}

extension GateUsage.Account {
    package func isProvider(named wanted: String) -> Bool {
        [provider, name].contains { UsageSelection.isSame(wanted, $0) }
    }
}

extension GateUsage.Window {
    /// Whether what is said of it cannot be so: its reset is further away than it is long, or a percentage is none.
    fileprivate func isContradicted(observedAt: Date) -> Bool {
        guard used.isFinite, used >= 0 else { return true }
        guard let minutes, let resetsAt else { return false }
        return resetsAt.timeIntervalSince(observedAt) > Double(minutes) * 60 + Freshness.staleAge
    }
}
