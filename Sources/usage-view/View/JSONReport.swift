import Essentials
import SnapshotModels

/// The output of `--json`. Fields are added, never renamed or removed; `schemaVersion` increases when a meaning
/// changes. Absent values are omitted, times are ISO 8601 in UTC, ages are whole seconds (negative for a time in
/// the future). The fields of the model's types that it contains are part of it.
struct JSONReport: Codable, Sendable, Equatable {
    struct Window: Codable, Sendable, Equatable {
        var label: String
        /// Absent if expired.
        var usedPercent: Double?
        var remainingPercent: Double?
        var level: WindowState.Level?
        var windowMinutes: Int?
        var resetsAt: Date?
        /// Not negative; absent without a reset.
        var resetsInSeconds: Int?
        var isExpired: Bool
        var pace: Pace?
    }

    struct Provider: Codable, Sendable, Equatable {
        var id: String
        var name: String
        var account: String?
        var plan: String?
        var observedAt: Date
        var ageSeconds: Int
        var freshness: Freshness
        var isError: Bool
        var status: String?
        var windows: [Window]
        var credits: SyncCredits?
        var budget: SyncBudget?
        /// Absent without tokens in the last 30 days of the viewer's zone.
        var cost: CostState?
        var devices: [String]
    }

    var schemaVersion = 1
    var generatedAt: Date
    var situation: ViewModel.Situation
    var connection: UsageData.Link
    var devices: [DeviceState]
    var providers: [Provider]

    init(_ model: ViewModel) {
        let now = model.now
        generatedAt = now
        situation = model.situation
        connection = model.data.link
        devices = model.devices
        providers = model.providers.map { Self.provider($0, now: now) }
    }

    private static func provider(_ state: ProviderState, now: Date) -> Provider {
        let snapshot = state.snapshot
        return Provider(
            id: snapshot.providerID, name: snapshot.providerName, account: snapshot.accountEmail,
            plan: snapshot.loginMethod, observedAt: snapshot.lastUpdated,
            ageSeconds: now.timeIntervalSince(snapshot.lastUpdated).wholeSeconds,
            freshness: state.freshness, isError: snapshot.isError,
            status: snapshot.statusMessage,
            windows: state.windows.map { window($0, now: now) }, credits: snapshot.credits,
            budget: snapshot.budget, cost: state.cost, devices: state.deviceNames)
    }

    private static func window(_ state: WindowState, now: Date) -> Window {
        let window = state.window
        return Window(
            label: state.label.text,
            usedPercent: state.isExpired ? nil : window.usedPercent,
            remainingPercent: state.isExpired ? nil : window.remainingPercent,
            level: state.isExpired ? nil : state.level,
            windowMinutes: window.windowMinutes, resetsAt: window.resetsAt,
            resetsInSeconds: window.resetsAt.map { max(0, $0.timeIntervalSince(now).wholeSeconds) },
            isExpired: state.isExpired,
            pace: state.pace)
    }
}
