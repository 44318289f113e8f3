import Foundation
import SnapshotModels

/// Everything a screen is drawn from. Two equal models draw the same screen.
struct ViewModel: Sendable, Equatable {
    /// Whether this machine belongs to a store and reaches it.
    enum Link: Sendable, Equatable {
        case notJoined
        case online
        /// `lastSeen` is the last time the server answered, nil when it never did.
        case offline(lastSeen: Date?)
    }

    /// What the local replica holds under the snapshot keys.
    enum Stored: Sendable, Equatable {
        case nothing
        /// There is a value and it is no snapshot; says why.
        case unreadable(reason: String)
        case usage(MergedUsage)
    }

    var link: Link
    var stored: Stored
    var now: Date
    /// The viewer's zone, for clock times.
    var zone: TimeZone
    var options = ViewOptions()

    /// What there is to show. The cases without numbers each ask for another next step.
    enum Situation: String, Sendable, Codable {
        case ready
        case notJoined
        case waitingForFirstPush
        case offlineWithoutData
        case noProviders
        case unreadable
    }

    var situation: Situation {
        switch stored {
        case .usage(let usage) where !usage.devices.isEmpty:
            return usage.providers.isEmpty ? .noProviders : .ready
        case .unreadable:
            return .unreadable
        case .nothing, .usage:
            return switch link {
            case .notJoined: .notJoined
            case .online: .waitingForFirstPush
            case .offline: .offlineWithoutData
            }
        }
    }

    private var usage: MergedUsage? {
        if case .usage(let usage) = stored { usage } else { nil }
    }

    /// In display order.
    var providers: [ProviderState] {
        let states = (usage?.providers ?? []).map { ProviderState($0, now: now) }
        switch options.sortOrder {
        case .name:
            return states
        case .tightest:
            // Sorting by position too keeps equal ones in their order.
            return states.enumerated()
                .sorted {
                    let left = $0.element.leastRemaining ?? .infinity
                    let right = $1.element.leastRemaining ?? .infinity
                    return left == right ? $0.offset < $1.offset : left < right
                }
                .map(\.element)
        }
    }

    var devices: [DeviceState] {
        (usage?.devices ?? []).map {
            DeviceState($0, isOnline: link == .online, now: now)
        }
    }
}
