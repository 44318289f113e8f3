import Hummingbird
import KVStore

/// Who a token is, and what its account has.
struct AccountRoutes: Sendable {
    let server: StoreServer

    private struct Me: Encodable {
        var account: String
        var device: String
        var deviceID: String
        var scopes: [DeviceScope]
        /// The only stores that the token sees; absent for all.
        var stores: [String]?
        /// Names the daemon's data directory; each store has an epoch of its own.
        var epoch: String
        var serverTime: Int64
    }

    func me(_ context: ServerRequestContext) throws -> Response {
        guard let device = context.device else { throw Problem.unauthorized }
        return .json(
            Me(
                account: device.account, device: device.name, deviceID: device.id,
                scopes: DeviceScope.allCases.filter(device.scopes.contains),
                stores: device.stores, epoch: server.devices.table.instance,
                serverTime: server.keeper.options.now()))
    }

    private struct DeviceList: Encodable {
        var devices: [Line]

        struct Line: Encodable {
            var deviceID: String
            var device: String
            var scopes: [DeviceScope]
            var created: Int64
            var lastSeen: Int64?
            var connected: Bool
        }
    }

    func devices(_ context: ServerRequestContext) throws -> Response {
        let caller = try context.caller(.read)
        let devices = server.devices.table.devices.filter { $0.account == caller.account }
        return .json(
            DeviceList(
                devices: devices.map { device in
                    let presence = server.devices.presence(of: device.id)
                    return DeviceList.Line(
                        deviceID: device.id, device: device.name,
                        scopes: DeviceScope.allCases.filter(device.scopes.contains),
                        created: device.created, lastSeen: presence.lastSeen,
                        connected: presence.isConnected)
                }))
    }

    private struct StoreList: Encodable {
        var stores: [Line]

        struct Line: Encodable {
            var store: String
            var epoch: String
            var cursor: UInt64
            var keyCount: Int
            var byteCount: Int
        }
    }

    func stores(_ context: ServerRequestContext) async throws -> Response {
        let caller = try context.caller(.read)
        let stores = try await server.keeper.summaries(ofAccount: caller.account)
        return .json(
            StoreList(
                stores: stores.filter { caller.mayUse(store: $0.id.name) }.map { store in
                    StoreList.Line(
                        store: store.id.name, epoch: store.epoch, cursor: store.sequence,
                        keyCount: store.keyCount, byteCount: store.byteCount)
                }))
    }
}
