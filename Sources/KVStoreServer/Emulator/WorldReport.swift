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

struct WorldReport: Sendable, Equatable, Codable {
    var world: String
    var devices: [DaemonDevice]
    var stores: [StoreList.Store]
}

/// The answer to an import.
struct ImportReport: Sendable, Equatable, Codable {
    var world: String
    var storeCount: Int
    var keyCount: Int
}
