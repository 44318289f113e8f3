package import Essentials
package import SnapshotModels

/// A device that pushes, and whether it still does.
package struct DeviceState: Sendable, Equatable, Codable {
    package enum Presence: String, Sendable, Codable {
        case active
        case stale
        /// This machine is offline and may have missed newer pushes.
        case unknown
        /// The last push is in the future: one of the clocks is wrong.
        case clockAhead
    }

    /// A device is active for this long after a push, in seconds.
    package static let activeAge: TimeInterval = 300

    package let id: String?
    /// The id that the daemon gave it; absent where the device has not joined or its last push does not say.
    package let daemonID: String?
    package let name: String
    package let presence: Presence
    package let lastPush: Date
    /// Since the last push.
    package var ageSeconds: Int
    /// The version of the program that pushed; absent if that did not say.
    package let appVersion: String?
    /// Whether the device is there, by what the daemon says; absent where it has not answered.
    package var availability: DevicePresence?

    package init(_ device: MergedDevice, isOnline: Bool, now: Date) {
        id = device.deviceID
        daemonID = device.daemonDeviceID
        name = device.name
        appVersion = device.appVersion
        lastPush = device.syncTimestamp
        let age = now.timeIntervalSince(lastPush)
        ageSeconds = age.wholeSeconds
        presence =
            age < -SnapshotMerge.clockTolerance
            ? .clockAhead : age < Self.activeAge ? .active : isOnline ? .stale : .unknown
    }
}

extension TimeInterval {
    /// Rounded down, and bounded because a date from outside may be any number.
    package var wholeSeconds: Int { Int(Swift.min(Swift.max(self, -1e12), 1e12).rounded(.down)) }
}
