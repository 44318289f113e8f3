// What there is to say about usage at one time, for every form in which it is shown. Not here: how it is laid out.

package import ClockZones
package import Essentials
import KVStoreCore
package import SnapshotModels

/// What the viewer reads from the store.
package struct UsageData: Sendable, Equatable {
    /// Whether the daemon is reachable.
    package struct Link: Sendable, Equatable, Codable {
        package enum State: String, Sendable, Codable {
            case online, offline, notJoined
            /// The daemon rejects this machine's token.
            case removed
        }

        package let state: State
        /// The last time the daemon responded. Only if offline; nil if it never did.
        package let lastSeen: Date?

        package static let online = Link(state: .online, lastSeen: nil)
        package static let notJoined = Link(state: .notJoined, lastSeen: nil)
        package static let removed = Link(state: .removed, lastSeen: nil)
        /// What to do about a removal.
        package static let rejoining = StoreError.rejoining
        package static func offline(lastSeen: Date?) -> Link { Link(state: .offline, lastSeen: lastSeen) }

        /// The same, but not online: that was true until some time, and is not known since.
        package func unverified(since date: Date) -> Link { state == .online ? .offline(lastSeen: date) : self }
    }

    package enum Stored: Sendable, Equatable {
        case nothing
        /// There is a value, but it is not a snapshot.
        case unreadable(reason: String)
        case usage(MergedUsage)
    }

    package var link: Link
    package var stored: Stored
    /// The histories of all devices, with what is stored as the last value of each window. Empty without any.
    package var history: UsageHistory
    /// What the daemon says about the devices.
    package var known = KnownDevices.notAsked
    /// Agents that wait for a reset, by the id of their machine.
    package var waits: [String: GateWaits] = [:]
    /// Those that are set.
    package var budgets: [Budget] = []
    package var projects = ProjectRules()
    /// What all machines used in the last year; nil if no machine has stored that.
    package var year: UsageYear?

    package init(link: Link, stored: Stored, history: UsageHistory = .init()) {
        self.link = link
        self.stored = stored
        self.history = history
    }
}

extension UsageData {
    package var usage: MergedUsage? {
        if case .usage(let usage) = stored { usage } else { nil }
    }
}

/// The user's choices about the presentation.
package struct ViewOptions: Sendable, Equatable {
    package enum Measure: String, Sendable, CaseIterable, Codable {
        case used, left

        func percent(used: Double) -> Double { self == .used ? used : max(0, 100 - used) }

        /// "43 % used", "57 % left".
        func text(used: Double) -> String {
            AmountFormatter.percent(percent(used: used), isLeft: self == .left) + " " + rawValue
        }
    }

    package enum SortOrder: String, Sendable, CaseIterable, Codable {
        /// By provider id, then account.
        case name
        /// What ends first on top, see `UsageRank`.
        case tightest
    }

    package var measure: Measure
    /// Clock times instead of countdowns and ages.
    package var isAbsolute: Bool
    package var sortOrder: SortOrder
    /// False if the locale supports only ASCII.
    package var isUnicode: Bool
    /// Clock times as "3:30 PM".
    package var isTwelveHour: Bool
    /// The accounts and windows to show.
    package var selection: UsageSelection

    package init(
        measure: Measure = .used, isAbsolute: Bool = false, sortOrder: SortOrder = .tightest,
        isUnicode: Bool = true, isTwelveHour: Bool = false, selection: UsageSelection = UsageSelection()
    ) {
        self.measure = measure
        self.isAbsolute = isAbsolute
        self.sortOrder = sortOrder
        self.isUnicode = isUnicode
        self.isTwelveHour = isTwelveHour
        self.selection = selection
    }
}

/// Everything a screen is drawn from. Equal parts draw equal screens.
package struct ViewModel: Sendable {
    package let data: UsageData
    package let now: Date
    /// The zone of clock times.
    package let zone: ClockZone
    package let options: ViewOptions
    /// In display order.
    package let providers: [ProviderState]
    private let formerOrder: UsageOrder?

    /// - Parameter order: that of the screen, which stays as long as it holds; nil on a new one.
    package init(
        data: UsageData, now: Date, zone: ClockZone, options: ViewOptions = .init(), keeping order: UsageOrder? = nil
    ) {
        self.data = data
        self.now = now
        self.zone = zone
        self.options = options
        formerOrder = order
        let states = options.selection.selected(
            of: (data.usage?.providers ?? []).map { ProviderState($0, now: now, zone: zone, history: data.history) })
        providers =
            options.sortOrder == .name
            ? states
            : order?.ordered(states, at: now) ?? ProviderState.mostUrgentFirst(states, at: now)
    }

    /// What there is to show. Each situation without data calls for another next step.
    package enum Situation: String, Sendable, Codable {
        case ready
        case notJoined
        case removed
        case waitingForFirstPush
        case offlineWithoutData
        case noProviders
        case unreadable
    }

    package var situation: Situation {
        switch (data.stored, data.link.state) {
        case (.usage(let usage), _) where !usage.devices.isEmpty:
            usage.providers.isEmpty ? .noProviders : .ready
        case (.unreadable, _): .unreadable
        case (_, .notJoined): .notJoined
        case (_, .removed): .removed
        case (_, .online): .waitingForFirstPush
        case (_, .offline): .offlineWithoutData
        }
    }

    /// For the next model of the same screen.
    package var order: UsageOrder? {
        options.sortOrder == .name ? nil : UsageOrder(providers, at: now, after: formerOrder)
    }

    package var devices: [DeviceState] { data.devices(at: now) }

    /// The percentage to show: used or left.
    package func shown(used: Double) -> Double { options.measure.percent(used: used) }

    /// "43 % used", "57 % left".
    package func percentText(used: Double) -> String { options.measure.text(used: used) }
}
