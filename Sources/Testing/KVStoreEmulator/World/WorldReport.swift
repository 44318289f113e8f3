import KVStoreWire

/// A world in the list of all. As JSON: fields are added, never renamed or removed.
struct WorldSummary: Sendable, Equatable, Codable {
    var world: String
    var deviceCount: Int
    /// Devices with a live stream.
    var connectedCount: Int
    var storeCount: Int
    var keyCount: Int
    /// Memory of its records.
    var byteCount: Int
}

struct WorldList: Sendable, Equatable, Codable {
    var worlds: [WorldSummary]
}

struct WorldReport: Sendable, Equatable, Encodable {
    var world: String
    var devices: [EmulatedDevice]
    var stores: [EmulatedStore]
    var clock: ClockReport
    var settings: SettingsDocument
}

/// A device as an account lists it, and what the emulator does to it.
struct EmulatedDevice: Sendable, Equatable, Encodable {
    var device: DaemonDevice
    /// Encoded as null for a device that is signed out.
    var account: String?
    var faults: [FaultDocument]
    /// Messages that faults delay or hold.
    var waiting: Int

    private enum CodingKeys: CodingKey { case account, faults, waiting }

    func encode(to encoder: any Encoder) throws {
        try device.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(account, forKey: .account)
        try container.encode(faults, forKey: .faults)
        try container.encode(waiting, forKey: .waiting)
    }
}

struct EmulatedStore: Sendable, Equatable, Encodable {
    var store: StoreList.Store
    /// Absent for the account that a world begins with.
    var account: String?

    private enum CodingKeys: CodingKey { case account }

    func encode(to encoder: any Encoder) throws {
        try store.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(account, forKey: .account)
    }
}

/// The answer to an import.
struct ImportReport: Sendable, Equatable, Codable {
    var world: String
    var storeCount: Int
    var keyCount: Int
}
