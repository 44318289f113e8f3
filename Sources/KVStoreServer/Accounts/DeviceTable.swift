/// All devices of a server. Pure.
///
/// Invariant: ids are unique, and names are unique within an account.
package struct DeviceTable: Sendable, Equatable {
    /// Names this daemon's data directory, whatever stores it holds.
    var instance: String
    package private(set) var devices: [Device] = []

    static let deviceCount = 1_000

    init(instance: String, devices: [Device] = []) throws(DeviceError) {
        self.instance = instance
        for device in devices { try add(device) }
    }

    func device(with digest: TokenDigest) -> Device? {
        // Every digest is compared, so that the time says nothing about which one matched.
        var found: Device?
        for device in devices where device.digest == digest { found = device }
        return found
    }

    func device(id: String) -> Device? { devices.first { $0.id == id } }

    mutating func add(_ device: Device) throws(DeviceError) {
        guard DaemonNames.isValidDevice(device.name) else { throw .badName(device.name) }
        guard DaemonNames.isValidAccount(device.account) else { throw .badAccount(device.account) }
        if let bad = device.stores?.first(where: { !DaemonNames.isValidStore($0) }) {
            throw .badStore(bad)
        }
        guard devices.count < Self.deviceCount else { throw .tooMany(limit: Self.deviceCount) }
        guard self.device(id: device.id) == nil else { throw .repeatedID(device.id) }
        guard !isTaken(device.name, account: device.account) else { throw .nameTaken(device.name) }
        devices.append(device)
    }

    /// Removes the device with this id or name; returns it.
    package mutating func remove(_ text: String, account: String?) throws(DeviceError) -> Device {
        let index = try place(of: text, account: account)
        return devices.remove(at: index)
    }

    package mutating func rename(
        _ text: String, account: String?, to name: String
    ) throws(DeviceError) -> Device {
        let index = try place(of: text, account: account)
        guard DaemonNames.isValidDevice(name) else { throw .badName(name) }
        guard devices[index].name == name || !isTaken(name, account: devices[index].account) else {
            throw .nameTaken(name)
        }
        devices[index].name = name
        return devices[index]
    }

    private func isTaken(_ name: String, account: String) -> Bool {
        devices.contains { $0.account == account && $0.name == name }
    }

    private func place(of text: String, account: String?) throws(DeviceError) -> Int {
        let found = devices.indices.filter { index in
            (devices[index].id == text || devices[index].name == text)
                && (account == nil || devices[index].account == account)
        }
        guard let first = found.first else { throw .unknown(text) }
        guard found.count == 1 else { throw .ambiguous(text) }
        return first
    }
}

package enum DeviceError: Error, Sendable, Equatable, CustomStringConvertible {
    case badName(String)
    case badAccount(String)
    case badStore(String)
    case nameTaken(String)
    case repeatedID(String)
    case unknown(String)
    case ambiguous(String)
    case tooMany(limit: Int)

    package var description: String {
        switch self {
        case .badName(let name):
            "'\(name)' is no device name: use one line of at most 64 bytes"
        case .badAccount(let name):
            "'\(name)' is no account name: use up to 64 of A-Z a-z 0-9 . _ - and no dot in front"
        case .badStore(let name):
            "'\(name)' is no store name: use up to 128 of A-Z a-z 0-9 . _ - and no dot in front"
        case .nameTaken(let name):
            "there is a device '\(name)' already: remove it first, or choose another name"
        case .repeatedID(let id): "two devices have the id \(id)"
        case .unknown(let text):
            "there is no device '\(text)': see 'kvsd device list'"
        case .ambiguous(let text):
            "several accounts have a device '\(text)': use its id, or --account"
        case .tooMany(let limit): "there are \(limit) devices already: remove some first"
        }
    }
}
