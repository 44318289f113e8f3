import Dispatch
import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOCore
import NIOHTTP1

/// What makes a server an emulator: tokens name worlds, whose administration has resources of its own, and whose
/// faults, settings and records stand between requests and stores.
final class EmulatorInterceptor: RequestEntry, ResourceProvider {
    let emulation: Emulation
    let network: EmulatedNetwork
    let worlds: WorldRegistry
    private let hosts: HostNames
    private let origins: AllowedOrigins
    let engine: LogEngine
    let limits: ServerLimits
    /// The replica id in the stamps of the emulator's own writes.
    let replica: ReplicaID
    /// Documents, one at a time: encoding and decoding take many times their memory.
    let documentQueue = DispatchQueue(label: "ubiquity.documents")

    var devices: DeviceRegistry { worlds.devices }

    init(
        _ emulation: Emulation, engine: LogEngine, devices: DeviceRegistry,
        hosts: HostNames, origins: AllowedOrigins, limits: ServerLimits, replica: ReplicaID
    ) {
        self.origins = origins
        self.emulation = emulation
        self.engine = engine
        self.hosts = hosts
        self.limits = limits
        self.replica = replica
        worlds = WorldRegistry(devices, emulation.limits)
        network = EmulatedNetwork(emulation, engine.loops[0].loop)
        emulation.events.observe { [engine] event in
            for watchers in engine.loops where watchers.count > 0 {
                watchers.loop.execute { watchers.wake(event.topics) }
            }
        }
    }

    /// Refuses requests of web pages of other sites: with a name that DNS resolves to this machine, a page has the same
    /// origin as its requests, and a browser omits `Origin` where the page cannot read the answer.
    func resource(
        of head: HTTPRequestHead, _ fields: RequestFields, in server: StoreServer
    ) throws(Problem) -> Resource? {
        let isAllowed = fields.origin.map(origins.contains) == true
        if fields.hasForeignOrigin, !isAllowed { throw .foreignOrigin }
        if let site = fields.fetchSite, site != "same-origin", site != "none", !isAllowed { throw .foreignOrigin }
        if let host = fields.host, !hosts.contains(host) { throw .foreignHost }
        return isAllowed && head.method == .OPTIONS ? .additional(Preflight()) : server.resource(at: head.path)
    }

    /// With these, a page of an allowed origin may read the answer.
    func fields(ofAnswerTo head: HTTPRequestHead) -> [(name: String, value: String)] {
        guard let origin = head.headers.first(name: "Origin"), origins.contains(origin) else { return [] }
        return CrossOrigin.fields(origin, isPreflight: head.method == .OPTIONS)
    }

    func document(of path: Substring) -> String? {
        path.hasPrefix("/emulator") ? "docs/emulator.md" : nil
    }

    func resource(at path: Substring) -> (any AdditionalResource)? {
        guard let (route, names) = EmulatorRoute.find(path) else { return EmulatorPage.files.file(at: path) }
        return EmulatorResource(route: route, names: names, interceptor: self)
    }

    func device(authorization: String, in _: StoreServer) throws(Problem) -> FoundDevice {
        guard let token = WorldToken(authorization: authorization) else {
            throw .invalidWorldToken
        }
        return .device(try worlds.admit(token, now: engine.options.now()))
    }

    /// A device keeps its permissions until its request is answered.
    func isCurrent(_ device: Device, in _: StoreServer) -> Bool { true }

    /// What is recorded has one order: it is decoded on the event loop too, so that requests are applied as they
    /// arrive.
    var decodesInOrder: Bool { emulation.recorder != nil }

    func convert<Value: Sendable>(
        for request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ body: @escaping @Sendable () throws(Problem) -> Value,
        _ complete: @escaping Completion<Value>
    ) {
        if decodesInOrder { return complete(Result(catching: body)) }
        server.convertElsewhere(for: request, on: loop, body, complete)
    }

    func stop() { network.stop() }
}
