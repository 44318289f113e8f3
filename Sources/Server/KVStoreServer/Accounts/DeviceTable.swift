package import Essentials
import KVStoreCore
import KVStoreEssentials
import KVStoreWire

/// All devices of a server, as devices.json holds them:
///
///     { "version": 1, "instance": "<16 hexadecimal digits>",
///       "devices": [ { "id": "<16 hexadecimal digits>", "name": "…", "account": "default",
///                      "scopes": ["read", "write", "admin"], "stores": ["…"] (only where limited),
///                      "created": <ms since 1970>, "tokenSHA256": "<base64>",
///                      "trusted": true (only where it is), "page": true (only where it is) } ],
///       "accounts": [ { "name": "…", "created": <ms since 1970>, "byteLimit": <bytes>, "storeLimit": <stores>,
///                       "removed": <ms since 1970> (while its stores are removed) } ] }
///
/// `accounts` has those that were added or limited: `default`, and one that only devices name, need no entry.
/// Unknown fields are ignored. Invariant: ids are unique, and names are unique within an account.
package struct DeviceTable: Sendable, Equatable {
    private var version = 1
    /// Identifies the data directory.
    package var instance: String
    package private(set) var devices: [Device] = []
    /// Nil in a file without any.
    package internal(set) var accounts: [Account]?

    static let deviceCount = 1_000
    /// Stores that a device may be limited to.
    static let storeCount = 100
    static let byteCount = 4 * 1_024 * 1_024

    /// - Parameters: of a database, or part of them, as `add` has accepted them.
    package init(instance: String, devices: [Device] = [], accounts: [Account]? = nil) {
        self.instance = instance
        self.devices = devices
        self.accounts = accounts
    }

    static func newID() -> String { EpochID(rawValue: .random(in: 1 ... .max)).description }

    /// The devices by the digests of their tokens. The time of a lookup may reveal bits of a digest, but no token
    /// follows from them.
    var index: [TokenDigest: Device] {
        Dictionary(devices.map { ($0.tokenSHA256, $0) }, uniquingKeysWith: { $1 })
    }

    func isAdministrator(_ id: String) -> Bool { device(id: id)?.scopes.contains(.admin) == true }

    func device(id: String) -> Device? { devices.first { $0.id == id } }

    /// Those with an id that none of the others has.
    package func devices(missingIn others: [Device]) -> [Device] {
        let ids = Set(others.map(\.id))
        return devices.filter { !ids.contains($0.id) }
    }

    mutating func add(_ device: Device) throws(ServerError) {
        try Self.checkFields(device)
        guard device.stores?.count ?? 0 <= Self.storeCount else {
            throw .invalidDevice("a device may be limited to at most \(Self.storeCount) stores", "name fewer stores")
        }
        try checkName(device)
        guard self.device(id: device.id) == nil else { throw Self.duplicateID(device) }
        try append(device)
    }

    /// Throws the error with which `add` would refuse the device.
    func check(_ name: String, _ permissions: DevicePermissions, isRenamed: Bool) throws(ServerError) {
        var table = self
        try table.checkPresent(account: permissions.account)
        try table.add(
            Device(
                isRenamed ? table.freeName(name, account: permissions.account) : name,
                permissions, id: Self.newID(), created: 0, tokenSHA256: TokenDigest(of: "")))
    }

    private mutating func append(_ device: Device) throws(ServerError) {
        guard devices.count < Self.deviceCount else {
            throw .invalidDevice("the server already has \(Self.deviceCount) devices", "remove some first")
        }
        devices.append(device)
    }

    /// Precondition: neither its id nor its name is in the table, which no file holds.
    mutating func append(inMemory device: Device) { devices.append(device) }

    mutating func removeDevices(where isRemoved: (Device) -> Bool) {
        devices.removeAll(where: isRemoved)
    }

    /// Everything that can be said of a device without the others.
    private static func checkFields(_ device: Device) throws(ServerError) {
        try checkName(of: device)
        guard Device.isValidAccount(device.account) else {
            throw .invalidDevice("invalid account name '\(device.account)'", "use \(Self.nameRule(64))")
        }
        if let store = device.stores?.first(where: { !StoreConfiguration.isValidStoreName($0) }) {
            throw .invalidDevice("invalid store name '\(store)'", "use \(Self.nameRule(128))")
        }
    }

    private static func checkName(of device: Device) throws(ServerError) {
        guard Device.isValidName(device.name) else {
            throw .invalidDevice("invalid device name '\(device.name)'", "use one line of at most 64 bytes")
        }
    }

    /// The name, or with a number behind it the first that the account does not have.
    func freeName(_ name: String, account: String) -> String {
        let taken = Set(devices.lazy.filter { $0.account == account }.map(\.name))
        var (free, number) = (name, 1)
        while taken.contains(free) {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }

    /// The name for a new device: a free one, unless the device that it replaces has the name, which then gets it.
    /// Until its owner has stored the token of the new device, the former one stays valid.
    mutating func takeName(_ name: String, account: String, former: TokenDigest?) throws(ServerError) -> String {
        let free = freeName(name, account: account)
        guard free != name, let former,
            let index = devices.firstIndex(where: {
                $0.account == account && $0.name == name && $0.tokenSHA256 == former
            })
        else { return free }
        _ = try rename(at: index, to: free)
        return name
    }

    /// Removes the device with this id or name; returns it.
    package mutating func remove(_ text: String, account: String?) throws(ServerError) -> Device {
        devices.remove(at: try index(of: text, account: account))
    }

    /// Returns nil if the account has no device with this id.
    mutating func remove(id: String, account: String) -> Device? {
        index(id: id, account: account).map { devices.remove(at: $0) }
    }

    mutating func removeDevices(ofAccount account: String) {
        removeDevices { $0.account == account }
    }

    package mutating func rename(_ text: String, account: String?, to name: String) throws(ServerError) -> Device {
        try rename(at: try index(of: text, account: account), to: name)
    }

    /// Returns nil if the account has no device with this id.
    mutating func rename(id: String, account: String, to name: String) throws(ServerError) -> Device? {
        guard let index = index(id: id, account: account) else { return nil }
        return try rename(at: index, to: name)
    }

    private mutating func rename(at index: Int, to name: String) throws(ServerError) -> Device {
        var device = devices[index]
        device.name = name
        try Self.checkName(of: device)
        try checkName(device)
        devices[index] = device
        return device
    }

    /// Lifts the limits on the number of requests and live streams, or imposes them again.
    package mutating func setTrust(_ text: String, account: String?, _ isTrusted: Bool) throws(ServerError) -> Device {
        let index = try index(of: text, account: account)
        devices[index].trusted = isTrusted ? true : nil
        return devices[index]
    }

    private func checkName(_ device: Device) throws(ServerError) {
        let namesake = devices.first { $0.account == device.account && $0.name == device.name }
        guard namesake == nil || namesake?.id == device.id else { throw Self.duplicateName(device) }
    }

    private static func duplicateName(_ device: Device) -> ServerError {
        .invalidDevice("the account already has a device '\(device.name)'", "remove it first, or choose another name")
    }

    private static func duplicateID(_ device: Device) -> ServerError {
        .invalidDevice("two devices have the id \(device.id)")
    }

    private func index(id: String, account: String) -> Int? {
        devices.firstIndex { $0.id == id && $0.account == account }
    }

    /// The device with this id, or else the one with this name.
    private func index(of text: String, account: String?) throws(ServerError) -> Int {
        let visible = devices.indices.filter { account == nil || devices[$0].account == account }
        if let exact = visible.first(where: { devices[$0].id == text }) { return exact }
        let found = visible.filter { devices[$0].name == text }
        guard let first = found.first else {
            throw .invalidDevice("unknown device '\(text)'", "see 'kvsd device list'")
        }
        guard found.count == 1 else {
            throw .invalidDevice("several accounts have a device '\(text)'", "use its id, or --account")
        }
        return first
    }

    static func nameRule(_ count: Int) -> String {
        "1 to \(count) characters of A-Z a-z 0-9 . _ - and no leading dot"
    }
}

extension DeviceTable: Codable {
    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and integers always have a JSON form.
        return ((try? encoder.encode(self)) ?? Data()) + Data("\n".utf8)
    }

    /// - Parameters:
    ///   - path: where the bytes come from, for the error.
    ///   - isLimited: whether the table must not have more than a data directory can have.
    package init(json: Data, path: String, isLimited: Bool = true) throws(ServerError) {
        func unreadable(
            _ reason: String, hint: String = "repair it, or remove it and add the devices again"
        ) -> ServerError {
            ServerError(.unreadable, "cannot read \(path): \(reason)", hint: hint)
        }
        let decoded: DeviceTable
        do {
            decoded = try JSONDecoder().decode(DeviceTable.self, from: json)
        } catch {
            throw unreadable("\(WireError(error))")
        }
        guard decoded.version == 1 else {
            throw unreadable(
                "version \(decoded.version), this program reads 1", hint: "install the version of kvsd that wrote it")
        }
        self.init(instance: decoded.instance)
        do throws(ServerError) {
            // Sets: the file is read again after every change, and may have a thousand devices.
            var ids: Set<String> = []
            var names: Set<[String]> = []
            for device in decoded.devices {
                try Self.checkFields(device)
                guard names.insert([device.account, device.name]).inserted else { throw Self.duplicateName(device) }
                guard ids.insert(device.id).inserted else { throw Self.duplicateID(device) }
                if isLimited { try append(device) } else { devices.append(device) }
            }
            accounts = decoded.accounts
            try checkAccounts(isLimited: isLimited)
        } catch {
            throw unreadable(error.message)
        }
    }
}

extension ServerError {
    static func invalidDevice(_ message: String, _ hint: String? = nil) -> ServerError {
        ServerError(.invalidDevice, message, hint: hint)
    }
}
