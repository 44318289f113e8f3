import Essentials
import KVStoreWire
import UsageState

/// Which of the devices that push are connected. A snapshot does not say with which token it was pushed, but both names come from
/// the host's unless the user chose another: where exactly one device has a name on both sides, they are taken for the same.
struct ConnectedDevices {
    private var presences: [Substring: [ServerPresence]] = [:]

    init(_ devices: [DaemonDevice]) {
        for device in devices where device.scopes.contains("write") {
            let lastSeen = device.lastSeen.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
            presences[Self.label(device.device), default: []].append(
                device.connected ? .connected : .notConnected(lastSeen: lastSeen))
        }
    }

    func completing(_ devices: [DeviceState], now: Date) -> [DeviceState] {
        let counts = Dictionary(grouping: devices) { Self.label($0.name) }.mapValues(\.count)
        return devices.map { device in
            let label = Self.label(device.name)
            let found = counts[label] == 1 ? presences[label] ?? [] : []
            var device = device
            device.availability = DevicePresence(
                server: found.count == 1 ? found[0] : .unreachable,
                heartbeatAge: now.timeIntervalSince(device.lastPush))
            return device
        }
    }

    /// The first label of a host's name.
    private static func label(_ name: String) -> Substring {
        name.lowercased().prefix { $0 != "." }
    }
}
