package import Essentials
package import SnapshotModels

/// The output of `--json`. Fields are added, never renamed or removed; `schemaVersion` increases when a meaning
/// changes. Absent values are omitted, times are ISO 8601 in UTC, ages are whole seconds (negative for a time in the
/// future). The fields of the model's types that it contains are part of it. Its schema, and that of the other JSON of
/// `usage-view`, is `docs/usage-report.schema.json`.
package struct UsageReport: Codable, Sendable, Equatable {
    package struct Window: Codable, Sendable, Equatable {
        package var label: String
        /// Absent if expired.
        package var usedPercent: Double?
        package var remainingPercent: Double?
        package var level: Urgency?
        /// The worse of the level and of the pace; absent if the percentage is not that of now.
        package var urgency: Urgency?
        package var windowMinutes: Int?
        package var resetsAt: Date?
        /// Not negative; absent without a reset.
        package var resetsInSeconds: Int?
        package var isExpired: Bool
        /// Absent if that of the provider.
        package var observedAt: Date?
        package var pace: Pace?
    }

    package struct Provider: Codable, Sendable, Equatable {
        package var id: String
        package var name: String
        package var account: String?
        package var plan: String?
        package var observedAt: Date
        package var ageSeconds: Int
        package var freshness: Freshness
        package var isError: Bool
        package var status: String?
        package var windows: [Window]
        package var credits: SyncCredits?
        package var budget: SyncBudget?
        /// Absent without tokens in the last 30 days of the viewer's zone.
        package var cost: CostState?
        package var devices: [String]
    }

    package var schemaVersion = 1
    package var generatedAt: Date
    package var situation: ViewModel.Situation
    /// Whether all is fine, and what ends first, in a sentence without relative times.
    package var answer: String
    package var connection: UsageData.Link
    package var devices: [DeviceState]
    package var providers: [Provider]
    /// Absent if no agent is paused.
    package var pausedAgents: [PausedAgent]?

    package init(_ model: ViewModel) { self.init(model, providers: model.providers) }

    /// - Parameter providers: those of the model to report, in their order.
    package init(_ model: ViewModel, providers: [ProviderState]) {
        let now = model.now
        generatedAt = now
        situation = model.situation
        var times = model.times
        times.isAbsolute = true
        answer = UsageAnswer(model, of: providers).forms.first?.text(times) ?? ""
        connection = model.data.link
        devices = model.devices
        pausedAgents = model.pausedAgents.isEmpty ? nil : model.pausedAgents
        self.providers = providers.map { Self.provider($0, now: now) }
    }

    private static func provider(_ state: ProviderState, now: Date) -> Provider {
        let snapshot = state.snapshot
        return Provider(
            id: snapshot.providerID, name: snapshot.providerName, account: snapshot.accountEmail,
            plan: snapshot.loginMethod, observedAt: snapshot.lastUpdated,
            ageSeconds: now.timeIntervalSince(snapshot.lastUpdated).wholeSeconds, freshness: state.freshness,
            isError: snapshot.isError, status: snapshot.statusMessage,
            windows: state.windows.map { window($0, of: state, now: now) }, credits: snapshot.credits,
            budget: snapshot.budget,
            cost: state.cost, devices: state.deviceNames)
    }

    private static func window(_ state: WindowState, of provider: ProviderState, now: Date) -> Window {
        let window = state.window
        return Window(
            label: state.label.text, usedPercent: state.isExpired ? nil : window.usedPercent,
            remainingPercent: state.isExpired ? nil : window.remainingPercent,
            level: state.isExpired ? nil : state.level,
            urgency: UsageItem(provider, state, at: now).urgency, windowMinutes: window.windowMinutes,
            resetsAt: window.resetsAt,
            resetsInSeconds: window.resetsAt.map { max(0, $0.timeIntervalSince(now).wholeSeconds) },
            isExpired: state.isExpired, observedAt: window.observedAt, pace: state.pace)
    }
}
