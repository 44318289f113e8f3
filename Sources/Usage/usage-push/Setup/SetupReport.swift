import Essentials
import LocalFiles
import UsagePusher

/// The plan of `usage-push setup` as JSON. Fields are added, never renamed or removed.
struct SetupReport: Encodable {
    private var schemaVersion = 1
    private var isUndo: Bool
    /// Whether nothing is left to change.
    private var isComplete: Bool
    private var homes: [ToolHome]
    private var unreadHomes: [ToolHome]
    private var changes: [SettingsChangeReport]
    private var failures: [Failure]
    /// Nil when the capture is free to run.
    private var statuslineOverride: StatuslineOverride?

    private struct StatuslineOverride: Encodable {
        var path: String
        var isManaged: Bool
    }

    private struct Failure: Encodable {
        var path: String
        var reason: String
    }

    init(_ plan: SetupPlan, applied: [ToolSettingsFile.Change], failures: [FileError], isUndo: Bool) {
        self.isUndo = isUndo
        homes = plan.homes.known
        unreadHomes = plan.homes.unread
        changes = plan.changes.compactMap { SettingsChangeReport($0, isApplied: applied.contains($0)) }
        self.failures = failures.map { Failure(path: $0.path, reason: $0.description) }
        statuslineOverride = plan.statuslineOverride.map { StatuslineOverride(path: $0.path, isManaged: $0.isManaged) }
        isComplete = failures.isEmpty && applied.count == plan.changes.count
    }
}
