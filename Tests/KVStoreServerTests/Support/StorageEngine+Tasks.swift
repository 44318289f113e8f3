import KVStoreCore
import KVStoreWire

@testable import KVStoreServer

/// Requests to the engine from tasks.
extension StorageEngine {
    func sync(_ request: SyncRequest, store: StoreID) async throws -> SyncResponse {
        try await wait { [self] in
            sync(request, store: store, by: .writer(ofAccount: store.account), on: $0, $1)
        }
    }

    func write(
        _ content: StoreRecord.Content, forKey key: StoreKey, store: StoreID, replica: ReplicaID
    ) async throws -> SequencedRecord {
        try await wait { [self] in
            write(content, forKey: key, store: store, if: .none, by: nil, replica: replica, on: $0, $1)
        }
    }

    func value(of key: StoreKey, in store: StoreID) async throws -> SequencedRecord? {
        try await wait { [self] in value(of: key, in: store, on: $0, $1) }
    }

    func values(in store: StoreID) async throws -> [SequencedRecord]? {
        try await wait { [self] in values(in: store, where: { _ in true }, on: $0, $1) }
    }

    func storeList(ofAccount account: String) async throws -> [StoreList.Store] {
        try await wait { [self] in stores(ofAccount: account, on: $0, $1) }
    }

    /// Nil for an unknown store.
    func end(of store: StoreID) async throws -> SyncCursor? {
        do throws(Problem) {
            return try await wait { [self] in end(of: store, on: $0, $1) }
        } catch .unknownStore { return nil }
    }

    /// The durable changes after a cursor; nil when it is not in the present epoch.
    func page(of store: StoreID, after cursor: SyncCursor) -> Hub.Page? {
        guard
            case .changes(let page, durable: _) = page(of: store, after: cursor, limits: WireLimits.page)
        else { return nil }
        return page
    }

    var watcherCount: Int { loops.reduce(0) { $0 + $1.count } }
}

extension Device {
    static func writer(ofAccount account: String) -> Device {
        Device(
            "writer", DevicePermissions(account: account), id: "00000000000000ff", created: 0,
            tokenSHA256: TokenDigest(of: "writer"))
    }
}
