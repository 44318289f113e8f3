import Hummingbird
import KVStore
import KVStoreCore
import KVStoreWire
import NIOCore

/// What the middlewares and routes know about a request.
struct ServerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer's address without its port.
    let address: String
    /// Set by authentication.
    var device: Device?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "local"
    }

    /// The authenticated device, if it has the scope.
    func caller(_ scope: DeviceScope) throws(Problem) -> Device {
        guard let device else { throw .unauthorized }
        guard device.scopes.contains(scope) else {
            throw scope == .write ? .readOnly : .writeOnly
        }
        return device
    }

    /// The store of the path, if the device has the scope and may see the store.
    func store(_ scope: DeviceScope) throws(Problem) -> StoreID {
        let device = try caller(scope)
        guard let name = segment("store"), StoreConfiguration.isValidStoreName(name) else {
            throw .badStoreName
        }
        guard device.maySee(store: name) else { throw .unknownStore }
        return StoreID(account: device.account, name: name)
    }

    /// The key of the path.
    func key() throws(Problem) -> StoreKey {
        guard let text = segment("key"), KeyProfile.standard.allows(StoreKey(text)) else {
            throw .badKey
        }
        return StoreKey(text)
    }

    /// The decoded text of a path segment; nil unless it is percent-encoded UTF-8 in ASCII.
    private func segment(_ name: String) -> String? {
        guard let segment = parameters.get(name), segment.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return PercentEncoding.decode(segment)
    }
}
