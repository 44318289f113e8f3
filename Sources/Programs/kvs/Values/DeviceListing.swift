import Essentials
import KVStoreHTTP
import SnapshotModels
import TerminalText
import UsageState

/// A device of the account, as `device list` shows it.
struct DeviceListing: Encodable {
    var device: String
    var deviceID: String
    var scopes: [String]
    var added: Date
    /// Nil before the first request since the daemon started.
    var lastSeen: Date?
    /// Nil without a push that this machine has received.
    var lastPush: Date?
    /// Whether it is a web page.
    var page: Bool
    var presence: DevicePresence
    /// Whether it has a live stream; nil if the daemon is unreachable.
    var connected: Bool?
    /// When the daemon has listed it; nil if it was now.
    var asOf: Date?
    var thisDevice: Bool
    /// Seconds by which the clock of this machine is ahead of the daemon's; of this device alone.
    var clockLead: Double?

    /// In the order of the daemon.
    ///
    /// - Parameters:
    ///   - isCurrent: whether the daemon has answered now.
    ///   - id: of this machine's device; nil if it is not known.
    ///   - pushing: the devices that push.
    static func all(
        _ answer: AccountDevices.Answer, isCurrent: Bool, shownBy id: String?, pushing: [DeviceState], now: Date
    ) -> [DeviceListing] {
        let known = answer.devices.map { KnownDevice($0, shownBy: id) }
        let all = isCurrent ? KnownDevices.known(known) : .lastKnown(known)
        let cards = DeviceCard.list(pushing, all)
        return zip(answer.devices, known).map { device, known in
            let lastPush = cards.first { $0.known?.id == known.id }?.pushed?.lastPush
            return DeviceListing(
                device: device.device, deviceID: device.deviceID, scopes: device.scopes,
                added: Date(timeIntervalSince1970: Double(device.created) / 1_000),
                lastSeen: known.lastSeen, lastPush: lastPush, page: known.isPage,
                presence: DevicePresence(
                    server: all.presence(of: known),
                    heartbeatAge: lastPush.map(now.timeIntervalSince)),
                connected: isCurrent ? device.connected : nil,
                asOf: isCurrent ? nil : answer.received, thisDevice: known.isThis,
                clockLead: isCurrent && known.isThis ? answer.clockLead : nil)
        }
    }

    static func table(_ devices: [DeviceListing], now: Date) -> [String] {
        let titles = ["NAME", "ID", "KIND", "SCOPES", "ADDED", "PRESENCE", "LAST SEEN", ""]
        var table = TextTable(columns: titles.map { TextTable.Column($0) })
        for device in devices {
            table.append([
                device.device, device.deviceID, device.page ? "page" : "program", device.scopes.joined(separator: "+"),
                device.added.formatted(.iso8601.year().month().day()), device.presence.word,
                device.lastSeenText(at: now), device.thisDevice ? "this device" : "",
            ])
        }
        return table.lines()
    }

    private func lastSeenText(at now: Date) -> String {
        if presence == .online || presence == .notReporting { return "now" }
        guard let last = [lastSeen, lastPush].compactMap({ $0 }).max() else { return "not since kvsd started" }
        return last.timeIntervalSince(now) > SnapshotMerge.clockTolerance
            ? "in the future" : DurationFormatter.age(of: last, at: now)
    }
}
