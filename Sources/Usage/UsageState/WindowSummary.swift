package import Essentials
import SnapshotModels

/// One window in the JSON of status lines and gates; times and ages as in `UsageReport`.
package struct WindowSummary: Codable, Sendable, Equatable {
    package var provider: String
    package var name: String
    package var account: String?
    /// Absent for an account without windows.
    package var window: String?
    /// Absent unless there is a percentage; the condition says whether it is that of now.
    package var usedPercent: Double?
    package var remainingPercent: Double?
    package var level: Urgency?
    package var urgency: Urgency?
    package var condition: UsageItem.Condition
    package var isEstimate: Bool
    package var resetsAt: Date?
    package var observedAt: Date
    package var ageSeconds: Int

    package init(_ item: UsageItem, now: Date) {
        let snapshot = item.provider.snapshot
        provider = snapshot.providerID
        name = snapshot.providerName
        account = snapshot.accountEmail
        window = item.window?.label.text
        usedPercent = item.usedPercent
        remainingPercent = item.remainingPercent
        level = item.condition.isKnown ? item.window?.level : nil
        urgency = item.urgency
        condition = item.condition
        isEstimate = item.isEstimate
        resetsAt = item.resetsAt
        observedAt = item.observedAt
        ageSeconds = now.timeIntervalSince(item.observedAt).wholeSeconds
    }
}

/// The output of `usage-view status --json`. Fields are added, never renamed or removed.
package struct StatusReport: Codable, Sendable, Equatable {
    package var schemaVersion = 1
    package var generatedAt: Date
    package var situation: ViewModel.Situation
    /// What the format `plain` prints.
    package var text: String
    package var windows: [WindowSummary]

    package init(_ line: UsageLine, text: String, now: Date) {
        generatedAt = now
        situation = line.situation
        self.text = text
        windows = line.items.map { WindowSummary($0, now: now) }
    }
}

/// The output of `usage-view check --json`. Fields are added, never renamed or removed.
package struct CheckReport: Codable, Sendable, Equatable {
    package var schemaVersion = 1
    package var generatedAt: Date
    package var outcome: UsageGate.Outcome
    package var maxPercent: Double
    /// Absent unless the outcome is unknown.
    package var reason: String?
    /// The known window that is closest to its limit; absent if none is known.
    package var deciding: WindowSummary?
    package var windows: [WindowSummary]

    package init(_ gate: UsageGate, now: Date) {
        generatedAt = now
        outcome = gate.outcome
        maxPercent = gate.maxPercent
        reason = gate.reason
        deciding = gate.deciding.map { WindowSummary($0, now: now) }
        windows = gate.items.map { WindowSummary($0, now: now) }
    }
}
