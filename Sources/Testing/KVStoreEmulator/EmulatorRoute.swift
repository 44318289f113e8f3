import KVStoreServer
import KVStoreWire
import NIOHTTP1

/// A path of an emulator's own, with what its methods do.
final class EmulatorRoute: Sendable {
    typealias Handler = @Sendable (EmulatorInterceptor) -> (EmulatorExchange) throws(Problem) -> Void

    /// The path, with names in braces.
    let template: String
    let methods: [HTTPMethod]
    private let actions: [(method: HTTPMethod, handle: Handler)]
    private let segments: [Substring]

    /// - Parameter hasHead: whether HEAD is answered as GET, without a body.
    init(_ template: String, hasHead: Bool = true, _ actions: (method: HTTPMethod, handle: Handler)...) {
        self.template = template
        self.actions = actions
        methods = actions.flatMap { $0.method == .GET && hasHead ? [.GET, .HEAD] : [$0.method] }
        segments = Self.segments(of: template[...])
    }

    static func segments(of path: Substring) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Those in the segments of a path, percent-encoded as they are there; nil for another path.
    func names(in path: [Substring]) -> [Substring]? {
        guard path.count == segments.count else { return nil }
        var names: [Substring] = []
        for (index, (segment, expected)) in zip(path, segments).enumerated() {
            switch expected {
            case "{world}" where segment.isEmpty: return nil
            case "{store}" where segment.isEmpty && index == path.count - 1: return nil
            case "{id}" where Int(segment) == nil: return nil
            case _ where expected.hasPrefix("{"): names.append(segment)
            case segment: break
            default: return nil
            }
        }
        return names
    }

    func handler(for method: HTTPMethod) throws(Problem) -> Handler {
        let method = method == .HEAD ? .GET : method
        for action in actions where action.method == method { return action.handle }
        throw .unknownPath
    }
}

extension EmulatorRoute {
    static let start = "/emulator/v1"

    /// The account of the device that asks.
    static let account = EmulatorRoute("/v1/account", hasHead: false, (.GET, EmulatorInterceptor.streamAccount))
    static let settle = EmulatorRoute(start + "/worlds/{world}/settle", (.POST, EmulatorInterceptor.settle))
    static let export = EmulatorRoute(
        start + "/worlds/{world}/export", (.GET, EmulatorInterceptor.export), (.PUT, EmulatorInterceptor.importWorld))

    /// What there is.
    private static let index = EmulatorRoute(start, (.GET, EmulatorInterceptor.listResources))

    /// Those below `/emulator/v1`.
    static let listed = [
        EmulatorRoute(
            start + "/worlds", (.GET, EmulatorInterceptor.listWorlds), (.DELETE, EmulatorInterceptor.resetAll)),
        EmulatorRoute(start + "/events", hasHead: false, (.GET, EmulatorInterceptor.openEvents)),
        EmulatorRoute(
            start + "/worlds/{world}", (.GET, EmulatorInterceptor.describeWorld),
            (.DELETE, EmulatorInterceptor.resetWorld)),
        export,
        EmulatorRoute(start + "/worlds/{world}/events", hasHead: false, (.GET, EmulatorInterceptor.openWorldEvents)),
        EmulatorRoute(start + "/worlds/{world}/stores/{store}", (.GET, EmulatorInterceptor.listEntries)),
        EmulatorRoute(
            start + "/worlds/{world}/stores/{store}/keys/{key}", (.GET, EmulatorInterceptor.getEntry),
            (.PUT, EmulatorInterceptor.putEntry), (.DELETE, EmulatorInterceptor.removeEntry)),
        EmulatorRoute(
            start + "/worlds/{world}/stores/{store}/keys/{key}/explanation", (.GET, EmulatorInterceptor.explainEntry)),
        EmulatorRoute(
            start + "/worlds/{world}/clock", (.GET, EmulatorInterceptor.getClock),
            (.PUT, EmulatorInterceptor.setClock)),
        EmulatorRoute(
            start + "/worlds/{world}/settings", (.GET, EmulatorInterceptor.getSettings),
            (.PUT, EmulatorInterceptor.setSettings)),
        EmulatorRoute(start + "/worlds/{world}/violations", (.GET, EmulatorInterceptor.listViolations)),
        settle,
        EmulatorRoute(
            start + "/worlds/{world}/devices/{device}/faults", (.GET, EmulatorInterceptor.listFaults),
            (.POST, EmulatorInterceptor.addFault), (.DELETE, EmulatorInterceptor.removeFaults)),
        EmulatorRoute(
            start + "/worlds/{world}/devices/{device}/faults/{id}", (.DELETE, EmulatorInterceptor.removeFault)),
        EmulatorRoute(
            start + "/worlds/{world}/devices/{device}/account", (.PUT, EmulatorInterceptor.setAccount)),
    ]

    private static let all = [account, index] + listed

    /// - Parameter path: without the query.
    static func find(_ path: Substring) -> (route: EmulatorRoute, names: [Substring])? {
        let segments = segments(of: path == start + "/" ? path.dropLast() : path)
        for route in all {
            if let names = route.names(in: segments) { return (route, names) }
        }
        return nil
    }
}

/// A resource of an emulator, and who responds.
struct EmulatorResource: AdditionalResource {
    let route: EmulatorRoute
    let names: [Substring]
    let interceptor: EmulatorInterceptor

    var template: String { route.template }
    var methods: [HTTPMethod] { route.methods }
    var needsToken: Bool { route === EmulatorRoute.account }
    var bodyByteLimit: Int? {
        route === EmulatorRoute.export ? interceptor.emulation.limits.importByteCount : nil
    }

    func respond(
        to request: Request, by _: StoreServer, on loop: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) throws(Problem) {
        let handle = try route.handler(for: request.method)(interceptor)
        try handle(EmulatorExchange(request: request, names: names, loop: loop, complete: complete))
    }
}

extension Resource {
    /// Nil for those of every server, and the files of the page.
    var emulatorRoute: EmulatorRoute? {
        guard case .additional(let resource as EmulatorResource) = self else { return nil }
        return resource.route
    }
}

/// A request for a resource of an emulator while it is answered. On the event loop only.
struct EmulatorExchange {
    let request: Request
    /// Those in the path, percent-encoded as they are there: of the world, and of what is in it.
    let names: [Substring]
    let loop: WatcherRegistry
    let complete: Completion<Response>

    func answer(_ answer: Answer) { complete(.success(.answer(answer))) }

    /// The world that a token with the name in the path has.
    var world: String {
        get throws(Problem) {
            guard let name = Request.decode(names[0]), !name.contains("/"), let token = WorldToken(name)
            else { throw .badWorldName }
            return token.world
        }
    }

    /// The name of a device, as a token has it.
    var device: String {
        get throws(Problem) {
            guard let name = Request.decode(names[1]), Device.isValidAccount(name) else {
                throw .invalidControl("the name of the device in the path is not what a token can name")
            }
            return name
        }
    }

    func decode<Document: Decodable>(as type: Document.Type, depthLimit: Int) throws(Problem) -> Document {
        try request.checkJSON()
        return try StoreServer.decode(request.body, depthLimit: depthLimit)
    }
}

/// The answer to `GET /emulator/v1`. As JSON: fields are added, never renamed or removed.
struct ResourceList: Encodable {
    private struct Entry: Encodable {
        var path: String
        var methods: [String]
    }

    private let documentation = "docs/emulator.md"
    private let resources = EmulatorRoute.listed.map { route in
        Entry(path: route.template, methods: route.methods.filter { $0 != .HEAD }.map(\.rawValue))
    }
}
