package import Essentials
import SnapshotModels

/// What the daemon says about a device.
package enum ServerPresence: Sendable, Equatable {
    case notAsked
    /// There is no daemon, it did not respond, or it knows no such device.
    case unreachable
    case connected
    case notConnected(lastSeen: Date?)
}

/// Whether a device is there: what the daemon says about its connection counts, and the age of its last push, the
/// heartbeat, where the daemon says nothing.
package enum DevicePresence: String, Sendable, Equatable, CaseIterable, Codable {
    case online
    /// Online, without a push for `DeviceState.activeAge`.
    case notReporting
    case offline
    case active
    case stale
    /// Neither the daemon nor a push says anything.
    case unknown
    /// The last push is in the future: one of the clocks is wrong.
    case clockAhead
    /// The daemon has not been asked yet.
    case unchecked

    /// - Parameter heartbeatAge: seconds since the last push; nil without one.
    package init(server: ServerPresence, heartbeatAge: TimeInterval?) {
        self =
            switch (server, heartbeatAge) {
            case (.notAsked, _): .unchecked
            case (.connected, let age?) where age >= DeviceState.activeAge: .notReporting
            case (.connected, _): .online
            case (.notConnected, _): .offline
            case (.unreachable, nil): .unknown
            case (.unreachable, let age?) where age < -SnapshotMerge.clockTolerance: .clockAhead
            case (.unreachable, let age?): age < DeviceState.activeAge ? .active : .stale
            }
    }

    package static func byTime(server: ServerPresence, lastPush: Date?) -> Timed<DevicePresence> {
        func presence(_ age: TimeInterval?) -> DevicePresence { DevicePresence(server: server, heartbeatAge: age) }
        guard let lastPush else { return Timed(presence(nil)) }
        return Timed(
            presence(-.infinity),
            [-SnapshotMerge.clockTolerance, DeviceState.activeAge].map { age in
                (from: lastPush.addingTimeInterval(age), value: presence(age))
            })
    }

    /// The word that is shown.
    package var word: String {
        switch self {
        case .online, .offline, .active, .stale, .unchecked: rawValue
        case .notReporting: "connected, not reporting"
        case .unknown: "unknown (unchecked)"
        case .clockAhead: "clock ahead"
        }
    }
}
