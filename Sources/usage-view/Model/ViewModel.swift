import Essentials
import SnapshotModels

/// What the viewer reads from the store.
struct UsageData: Sendable, Equatable {
    /// Whether the daemon is reachable.
    struct Link: Sendable, Equatable, Codable {
        enum State: String, Sendable, Codable { case online, offline, notJoined }

        let state: State
        /// The last time the daemon responded. Only if offline; nil if it never did.
        let lastSeen: Date?

        static let online = Link(state: .online, lastSeen: nil)
        static let notJoined = Link(state: .notJoined, lastSeen: nil)
        static func offline(lastSeen: Date?) -> Link { Link(state: .offline, lastSeen: lastSeen) }
    }

    enum Stored: Sendable, Equatable {
        case nothing
        /// There is a value, but it is not a snapshot.
        case unreadable(reason: String)
        case usage(MergedUsage)
    }

    var link: Link
    var stored: Stored
}

/// The user's choices about the presentation.
struct ViewOptions: Sendable, Equatable {
    enum Measure: String, Sendable, CaseIterable {
        case used, left
    }

    enum SortOrder: String, Sendable, CaseIterable {
        /// By provider id, then account.
        case name
        /// The account closest to a limit first.
        case tightest
    }

    var measure: Measure = .used
    /// Clock times instead of countdowns and ages.
    var isAbsolute = false
    var sortOrder: SortOrder = .name
    /// False if the locale supports only ASCII.
    var isUnicode = true
}

/// Everything a screen is drawn from. Equal models draw equal screens.
struct ViewModel: Sendable, Equatable {
    var data: UsageData
    var now: Date
    /// The zone of clock times.
    var zone: ClockZone
    var options = ViewOptions()

    /// What there is to show. Each situation without data calls for another next step.
    enum Situation: String, Sendable, Codable {
        case ready
        case notJoined
        case waitingForFirstPush
        case offlineWithoutData
        case noProviders
        case unreadable
    }

    var situation: Situation {
        switch (data.stored, data.link.state) {
        case (.usage(let usage), _) where !usage.devices.isEmpty:
            usage.providers.isEmpty ? .noProviders : .ready
        case (.unreadable, _): .unreadable
        case (_, .notJoined): .notJoined
        case (_, .online): .waitingForFirstPush
        case (_, .offline): .offlineWithoutData
        }
    }

    private var usage: MergedUsage? {
        if case .usage(let usage) = data.stored { usage } else { nil }
    }

    /// In display order.
    var providers: [ProviderState] {
        let states = (usage?.providers ?? []).map { ProviderState($0, now: now, zone: zone) }
        return options.sortOrder == .name ? states : ProviderState.tightestFirst(states)
    }

    var devices: [DeviceState] {
        (usage?.devices ?? []).map { DeviceState($0, isOnline: data.link == .online, now: now) }
    }
}
