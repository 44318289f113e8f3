import Essentials

/// What is remembered of a device that pushes.
///
/// Its own times only say that they have changed: clocks differ.
struct WatchedDevice: Sendable, Equatable, Codable {
    var name: String
    var lastPush: Date
    /// When this push was first seen here.
    var seenAt: Date
    /// Whether its silence was worth an alert, or is known from the beginning.
    var isSilent: Bool

    init(_ device: DeviceState, now: Date) {
        name = device.name
        lastPush = device.lastPush
        seenAt = min(device.lastPush, now)
        isSilent = now.timeIntervalSince(seenAt) >= AlertRules.silentAge
    }

    mutating func apply(_ device: DeviceState, now: Date) {
        name = device.name
        guard device.lastPush != lastPush else { return }
        lastPush = device.lastPush
        seenAt = now
        isSilent = false
    }

    /// When its silence is worth an alert.
    var silenceDue: Date? {
        isSilent ? nil : seenAt.addingTimeInterval(AlertRules.silentAge)
    }

    mutating func pass(_ now: Date, id: String, rules: AlertRules) -> Alert? {
        guard let due = silenceDue, due <= now else { return nil }
        isSilent = true
        guard rules.silence else { return nil }
        var alert = Alert(
            kind: .silent, at: now,
            mark: AlertMark(key: AlertMark.hash("device", id), instance: lastPush.timeIntervalSince1970.wholeSeconds))
        alert.device = name
        alert.lastPush = lastPush
        return alert
    }
}
