import Foundation
import SnapshotModels

/// How far a provider's numbers can be trusted to be those of now.
enum Freshness: String, Sendable, Codable {
    case fresh
    /// Already old when it was pushed: the tool's own file held an earlier answer.
    case cached
    case stale
    /// Observed in the future: the device's clock is wrong.
    case clockAhead

    /// Age from which numbers are called stale, in seconds.
    static let staleAge: TimeInterval = 3_600
    /// A reading this much older than the push that carried it is a cached one, in seconds.
    static let cachedLag: TimeInterval = 300

    init(observedAt: Date, pushedAt: Date?, now: Date) {
        let age = now.timeIntervalSince(observedAt)
        if age < -SnapshotMerge.clockTolerance {
            self = .clockAhead
        } else if age > Self.staleAge {
            self = .stale
        } else if let pushedAt, pushedAt.timeIntervalSince(observedAt) > Self.cachedLag {
            self = .cached
        } else {
            self = .fresh
        }
    }
}
