import Foundation
import SnapshotModels

/// A device that pushes, and whether it still does.
struct DeviceState: Sendable, Equatable {
    enum Presence: String, Sendable, Codable {
        case active
        case stale
        /// This machine is offline and may have missed newer pushes.
        case unknown
        /// The last push is in the future: one of the clocks is wrong.
        case clockAhead
    }

    /// A device is active for this long after a push, in seconds.
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
        presence =
            age < -SnapshotMerge.clockTolerance
            ? .clockAhead : age < Self.activeAge ? .active : isOnline ? .stale : .unknown
    }
}
