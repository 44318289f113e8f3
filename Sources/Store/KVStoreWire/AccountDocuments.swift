package import KVStoreCore

/// The account and device that a token belongs to: the answer to `GET /v1/me`.
///
/// For an example see `DaemonClient`.
public struct DaemonIdentity: Sendable, Equatable, Codable {
    /// The account's id.
    public var account: String
    /// The device's name.
    public var device: String
    public var deviceID: String
    /// The operations that the token permits: "read", "write", "admin".
    public var scopes: [String]
    /// The only stores that the token permits; nil for all.
    public var stores: [String]?
    /// Identifies the daemon's data directory; each store has epochs of its own.
    public var epoch: String
    /// The daemon's clock, milliseconds since 1970.
    public var serverTime: Int64

    /// What the tokens of a daemon begin with; those of an emulator name a world.
    package static let tokenPrefix = "ubq_"

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        account = try fields.decode(String.self, forKey: .account)
        device = try fields.decode(String.self, forKey: .device)
        deviceID = try fields.decode(String.self, forKey: .deviceID)
        scopes = try fields.decode([String].self, forKey: .scopes)
        stores = try fields.decodeIfPresent([String].self, forKey: .stores)
        epoch = try fields.decode(String.self, forKey: .epoch)
        serverTime = try fields.decode(in: WireNumber.milliseconds, forKey: .serverTime)
    }

    package init(
        account: String, device: String, deviceID: String, scopes: [String], stores: [String]?,
        epoch: String, serverTime: Int64
    ) {
        self.account = account
        self.device = device
        self.deviceID = deviceID
        self.scopes = scopes
        self.stores = stores
        self.epoch = epoch
        self.serverTime = serverTime
    }
}

/// A device of the account.
///
/// For an example see `DaemonClient`.
public struct DaemonDevice: Sendable, Equatable, Codable {
    public var deviceID: String
    /// The device's name.
    public var device: String
    public var scopes: [String]
    /// Milliseconds since 1970.
    public var created: Int64
    /// Milliseconds since 1970 of its last request; nil before the first since the daemon started.
    public var lastSeen: Int64?
    /// Whether the device has a live stream open.
    public var connected: Bool
    /// Whether it is a web page; nil if not.
    public var page: Bool?

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        deviceID = try fields.decode(String.self, forKey: .deviceID)
        device = try fields.decode(String.self, forKey: .device)
        scopes = try fields.decode([String].self, forKey: .scopes)
        created = try fields.decode(in: WireNumber.milliseconds, forKey: .created)
        lastSeen = try fields.decodeIfPresent(in: WireNumber.milliseconds, forKey: .lastSeen)
        connected = try fields.decode(Bool.self, forKey: .connected)
        page = try fields.decodeIfPresent(Bool.self, forKey: .page)
    }

    package init(
        deviceID: String, device: String, scopes: [String], created: Int64, lastSeen: Int64?,
        connected: Bool, page: Bool? = nil
    ) {
        self.deviceID = deviceID
        self.device = device
        self.scopes = scopes
        self.created = created
        self.lastSeen = lastSeen
        self.connected = connected
        self.page = page
    }
}

/// The answer to `GET /v1/devices`.
package struct DeviceList: Sendable, Equatable, Codable {
    package var devices: [DaemonDevice]
    /// The daemon's clock, milliseconds since 1970; nil from a daemon of an earlier version.
    package var serverTime: Int64?

    /// Names the device of the token in the answer to a sync, percent-encoded.
    package static let nameField = "Ubiquity-Device"

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        devices = try fields.decode([DaemonDevice].self, forKey: .devices)
        serverTime = try fields.decodeIfPresent(in: WireNumber.milliseconds, forKey: .serverTime)
    }

    package init(devices: [DaemonDevice], serverTime: Int64?) {
        self.devices = devices
        self.serverTime = serverTime
    }
}

/// The body of `PATCH /v1/devices/{device}`.
package struct DeviceChange: Sendable, Equatable, Codable {
    package var name: String

    package init(name: String) { self.name = name }
}

/// The answer to `DELETE /v1/stores/{store}`.
package struct StoreRemoval: Sendable, Equatable, Codable {
    package var store: String
    package var deleted = true

    package init(store: String) { self.store = store }
}

/// The answer to `GET /v1/stores`.
package struct StoreList: Sendable, Equatable, Codable {
    package struct Store: Sendable, Equatable, Codable {
        package var store: String
        package var epoch: EpochID
        package var cursor: UInt64
        package var keyCount: Int
        package var byteCount: Int

        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            store = try fields.decode(String.self, forKey: .store)
            epoch = try fields.decode(EpochID.self, forKey: .epoch)
            cursor = try fields.decode(in: WireNumber.sequence, forKey: .cursor)
            keyCount = try fields.decodeCount(forKey: .keyCount)
            byteCount = try fields.decodeCount(forKey: .byteCount)
        }

        package init(name: String, end: SyncCursor, keyCount: Int, byteCount: Int) {
            store = name
            epoch = end.epoch
            cursor = end.sequence
            self.keyCount = keyCount
            self.byteCount = byteCount
        }
    }

    package var stores: [Store]

    package init(stores: [Store]) { self.stores = stores }
}

/// The account that an emulator has signed a device in to: the data of an event of `GET /v1/account`, and what
/// `PUT …/devices/{device}/account` sets.
package struct DeviceAccount: Sendable, Equatable, Codable {
    /// Nil while the device is signed out, and encoded as null.
    package var account: String?

    /// The account that devices begin with.
    package static let defaultName = "default"
    /// Names the account that a request is for, empty for none: the emulator answers `other-account` if the device has
    /// another one.
    package static let field = "Ubiquity-Account"

    package init(_ account: String?) { self.account = account }

    private enum CodingKeys: CodingKey { case account }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.contains(.account) else {
            throw DecodingError.keyNotFound(
                CodingKeys.account, DecodingError.Context(codingPath: [], debugDescription: "account is missing"))
        }
        account = try container.decode(String?.self, forKey: .account)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(account, forKey: .account)
    }
}
