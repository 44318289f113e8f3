import Foundation
import SnapshotModels

/// Whether a device that pushes is alive.
struct DeviceState: Sendable, Equatable {
    enum Presence: String, Sendable, Codable {
        /// It pushed less than `activeAge` ago.
        case active
        case stale
        /// This machine is offline, so it cannot know of newer pushes.
        case unknown
        /// Its times are in the future, so they say nothing.
        case clockAhead
    }

    /// A push counts as a sign of life for this long, in seconds.
    static let activeAge: TimeInterval = 300

    let deviceID: String?
    let name: String
    let lastPush: Date
    let presence: Presence

    init(_ device: MergedDevice, isOnline: Bool, now: Date) {
        deviceID = device.deviceID
        name = device.name
        lastPush = device.syncTimestamp
        let age = now.timeIntervalSince(device.syncTimestamp)
        if age < -SnapshotMerge.clockTolerance {
            presence = .clockAhead
        } else {
            presence = age < Self.activeAge ? .active : isOnline ? .stale : .unknown
        }
    }
}
