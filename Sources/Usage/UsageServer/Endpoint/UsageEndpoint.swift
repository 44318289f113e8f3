import Dispatch
import Essentials
import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOHTTP1
import Synchronization
import UsageState

/// The resource `/v1/usage` of a server: what the stored snapshots say, for programs that have no replica.
final class UsageEndpoint: AdditionalResource {
    /// Snapshots are decoded and answers encoded here, one at a time: both take many times their memory, and would hold
    /// up all connections of an event loop.
    private let queue = DispatchQueue(label: "ubiquity.usage", qos: .utility)
    /// Many, as all pages ask at once when a store changes.
    private let gate = RequestGate(limit: 256)
    /// On `queue` only.
    private let cache = Mutex(UsageCache())

    var template: String { "/v1/usage" }
    var methods: [HTTPMethod] { [.GET, .HEAD] }
    var needsToken: Bool { true }
    var bodyByteLimit: Int? { nil }

    func respond(
        to request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let query = try UsageQuery(request)
        let store = try request.store(query.store, .read)
        let (tags, isDeflated) = (request.fields.ifNoneMatch, request.fields.acceptsDeflate)
        let now = Date(timeIntervalSince1970: Double(server.now(of: store.account)) / 1_000)
        server.describeDevices(ofAccount: store.account, on: loop.loop) { [self] devices in
            server.readValues(of: store, where: { UsageData.isKey($0.text) }, on: loop) { [self] result in
                do throws(Problem) {
                    let devices = try devices.get()
                    // Until the first push, there is no store.
                    guard let records = try result.get() ?? (query.isDefaultStore ? [] : nil) else {
                        throw .unknownStore
                    }
                    let finish = try gate.admit(on: loop, complete)
                    queue.async { [self] in
                        finish(
                            Result { () throws(Problem) in
                                try cache.withLock { cache throws(Problem) in
                                    try cache.document(of: store, in: records, for: query, devices: devices, now: now)
                                }.answer(unless: tags, isDeflated: isDeflated)
                            })
                    }
                } catch {
                    complete(.failure(error))
                }
            }
        }
    }
}
