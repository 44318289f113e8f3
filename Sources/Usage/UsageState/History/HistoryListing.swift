package import Essentials
import SnapshotModels

/// The past of the windows that were asked for, in the order of their identities.
package struct HistoryListing: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let identity: WindowIdentity
        /// As shown: the provider's name, and the account's. Unescaped.
        package let providerName: String
        package let account: String?
        package let last: WindowHistory.Observation
        /// Those that end after the start of the listing, in the order of time. The last one has the present value.
        package let points: [HistoryPoint]
        package let summary: HistorySummary
    }

    package let since: Date
    package let now: Date
    /// Only windows with an observation since then.
    package let entries: [Entry]

    /// - Parameters:
    ///   - provider: an id, or a name as shown; nil for all. Case does not matter.
    ///   - window: what a label contains; nil for all. Case does not matter.
    package init(_ model: ViewModel, since: Date, provider: String? = nil, window: String? = nil) {
        self.since = since
        now = model.now
        let cards = model.providers.map(\.snapshot)
        let start = since.unixSeconds
        let now = model.now.unixSeconds
        entries = model.data.history.windows.sorted { $0.key < $1.key }.compactMap { entry in
            let (identity, history) = entry
            let own = cards.filter { $0.providerID == identity.providerID }
            let card = own.first { $0.accountKey == identity.account }
            let name = (card ?? own.first)?.providerName ?? identity.providerID
            guard provider.map({ Self.names(identity, name).contains($0.lowercased()) }) ?? true,
                window.map({ identity.label.lowercased().contains($0.lowercased()) }) ?? true
            else { return nil }
            let timeline = history.timeline
            let points = timeline.filter { $0.end > start }
            guard !points.isEmpty else { return nil }
            return Entry(
                identity: identity, providerName: name, account: card?.accountEmail ?? identity.account,
                last: history.last, points: points, summary: HistorySummary(timeline, since: start, now: now))
        }
    }

    private static func names(_ identity: WindowIdentity, _ name: String) -> [String] {
        [identity.providerID.lowercased(), name.lowercased()]
    }
}

/// The output of `usage-view history --json`. Fields are added, never renamed or removed; `schemaVersion` increases
/// when a meaning changes. Absent values are omitted, times are ISO 8601 in UTC. Percentages are exact to a half.
package struct HistoryReport: Codable, Sendable, Equatable {
    package struct Point: Codable, Sendable, Equatable {
        /// When the slot begins.
        package var at: Date
        package var seconds: Int
        /// The last one observed in the slot, after the reset if there is one. Absent if there is only a mark.
        package var percent: Double?
        /// The last one known before a reset in this slot. Absent without a reset.
        package var percentBeforeReset: Double?
        package var isReached: Bool
        package var isEstimate: Bool
    }

    package struct Window: Codable, Sendable, Equatable {
        package var provider: String
        package var providerName: String
        package var account: String?
        package var label: String
        package var windowMinutes: Int?
        package var observedAt: Date
        /// Absent after the reset, and if unknown.
        package var resetsAt: Date?
        package var leastPercent: Double?
        package var greatestPercent: Double?
        package var reachedIn7Days: Int
        package var reachedIn90Days: Int
        /// How often it was reset after it had been used, in 90 days.
        package var resetsIn90Days: Int
        package var averagePercentAtReset: Double?
        /// Without gaps: where there is no point, nothing was observed.
        package var points: [Point]
    }

    package var schemaVersion = 1
    package var generatedAt: Date
    package var since: Date
    package var windows: [Window]

    package init(_ listing: HistoryListing) {
        generatedAt = listing.now
        since = listing.since
        windows = listing.entries.map { entry in
            Window(
                provider: entry.identity.providerID, providerName: entry.providerName,
                account: entry.account, label: entry.identity.label,
                windowMinutes: entry.identity.minutes,
                observedAt: Date(unixSeconds: entry.last.time),
                resetsAt: entry.last.resetsAt.map(Date.init(unixSeconds:)),
                leastPercent: entry.summary.least?.percent,
                greatestPercent: entry.summary.greatest?.percent,
                reachedIn7Days: entry.summary.reachedIn7Days,
                reachedIn90Days: entry.summary.reachedIn90Days,
                resetsIn90Days: entry.summary.resetCount,
                averagePercentAtReset: entry.summary.averageAtReset.map { ($0 * 10).rounded() / 10 },
                points: entry.points.map { point in
                    Point(
                        at: point.date, seconds: point.seconds, percent: point.slot.level?.percent,
                        percentBeforeReset: point.slot.levelBeforeReset?.percent,
                        isReached: point.slot.isReached, isEstimate: point.slot.isEstimate)
                })
        }
    }
}
