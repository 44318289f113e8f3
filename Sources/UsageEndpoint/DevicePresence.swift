import KVStoreWire
import UsageState

/// Which of the devices that push are connected. A snapshot does not say with which token it was pushed, but both names come from
/// the host's unless the user chose another: where exactly one device has a name on both sides, they are taken for the same.
struct DevicePresence {
    private var connected: [Substring: [Bool]] = [:]

    init(_ devices: [DaemonDevice]) {
        for device in devices where device.scopes.contains("write") {
            connected[Self.label(device.device), default: []].append(device.connected)
        }
    }

    func completing(_ devices: [DeviceState]) -> [DeviceState] {
        let counts = Dictionary(grouping: devices) { Self.label($0.name) }.mapValues(\.count)
        return devices.map { device in
            let label = Self.label(device.name)
            guard counts[label] == 1, let found = connected[label], found.count == 1 else {
                return device
            }
            var device = device
            device.isConnected = found[0]
            return device
        }
    }

    /// The first label of a host's name.
    private static func label(_ name: String) -> Substring {
        name.lowercased().prefix { $0 != "." }
    }
}
