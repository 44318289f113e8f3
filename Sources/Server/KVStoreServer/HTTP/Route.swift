import KVStoreWire
import NIOHTTP1

/// A path of the server's own, with what its methods do and whom they need.
package final class Route: Sendable {
    typealias Handler = @Sendable (Exchange) throws(Problem) -> Void

    struct Action: Sendable {
        let method: HTTPMethod
        /// Nil if no token is needed.
        let scope: DeviceScope?
        let handle: Handler

        init(_ method: HTTPMethod, _ scope: DeviceScope?, _ handle: @escaping Handler) {
            self.method = method
            self.scope = scope
            self.handle = handle
        }
    }

    /// The path, with names in braces: those of stores and keys are private, so this is what the log has.
    package let template: String
    let methods: [HTTPMethod]
    let needsToken: Bool
    private let actions: [Action]
    /// What is before, between and after the names.
    private let pieces: [[UInt8]]

    /// - Parameter hasHead: whether HEAD is answered as GET, without a body.
    init(_ template: String, hasHead: Bool = true, _ actions: Action...) {
        self.template = template
        self.actions = actions
        methods = actions.flatMap { $0.method == .GET && hasHead ? [.GET, .HEAD] : [$0.method] }
        needsToken = actions.contains { $0.scope != nil }
        pieces = template.split(separator: "{").enumerated().map { index, part in
            Array((index == 0 ? part : part.drop { $0 != "}" }.dropFirst()).utf8)
        }
    }

    /// The names in a path, as they are there, empty for those that the template lacks; nil for another path.
    ///
    /// By bytes: most requests name a key, and splitting characters would take longer than the rest of routing.
    func names(in path: Substring) -> (Substring, Substring)? {
        guard path.utf8.starts(with: pieces[0]) else { return nil }
        var rest = path.utf8.dropFirst(pieces[0].count)
        var names = (Substring(), Substring())
        for index in pieces.indices.dropFirst() {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            if index == 1 { names.0 = Substring(rest[..<end]) } else { names.1 = Substring(rest[..<end]) }
            rest = rest[end...]
            guard rest.starts(with: pieces[index]) else { return nil }
            rest = rest.dropFirst(pieces[index].count)
        }
        return rest.isEmpty ? names : nil
    }

    func action(for method: HTTPMethod) throws(Problem) -> Action {
        let method = method == .HEAD ? .GET : method
        guard let action = actions.first(where: { $0.method == method }) else { throw .method(methods) }
        return action
    }
}

extension Route {
    package static let sync = Route("/v1/stores/{store}/sync", Action(.POST, .read, Exchange.sync))
    package static let changes = Route(
        "/v1/stores/{store}/changes", hasHead: false, Action(.GET, .read, Exchange.openStream))
    package static let identity = Route(
        "/v1/me", Action(.GET, .read, Exchange.identify), Action(.DELETE, .read, Exchange.leave))
    package static let devices = Route("/v1/devices", Action(.GET, .read, Exchange.listDevices))
    package static let device = Route(
        "/v1/devices/{device}", Action(.PATCH, .admin, Exchange.renameDevice),
        Action(.DELETE, .admin, Exchange.removeDevice))
    package static let pairing = Route("/v1/pair", Action(.POST, nil, Exchange.pairProgram))
    package static let pairings = Route("/v1/pairings", Action(.POST, .admin, Exchange.makePairing))
    static let session = Route("/v1/session", Action(.POST, nil, Exchange.pairPage))

    /// Everything that a server has but what a provider adds; the most frequent first.
    static let all = [
        Route(
            "/v1/stores/{store}/keys/{key}", Action(.GET, .read, Exchange.readKey),
            Action(.PUT, .write, Exchange.writeKey), Action(.DELETE, .write, Exchange.removeKey)),
        sync, changes,
        Route("/v1/stores/{store}/keys", Action(.GET, .read, Exchange.listKeys)),
        Route("/v1/stores/{store}", Action(.DELETE, .write, Exchange.removeStore)),
        Route("/v1/stores", Action(.GET, .read, Exchange.listStores)),
        identity, devices, device, pairing, pairings, session,
        Route("/healthz", Action(.GET, nil) { $0.answer(.text("ok\n")) }),
        Route("/readyz", Action(.GET, nil, Exchange.checkReadiness)),
        Route("/metrics", Action(.GET, nil) { $0.answer($0.server.metricsText()) }),
        Route("/certificate/authority.crt", Action(.GET, nil, Exchange.getAuthority)),
        Route("/certificate/authority.mobileconfig", Action(.GET, nil, Exchange.getAuthorityProfile)),
    ]
}

/// What the path of a request names.
package enum Resource: Sendable {
    /// With the names in the path, percent-encoded as they are there.
    case route(Route, Substring, Substring)
    /// The provider's.
    case additional(any AdditionalResource)

    /// Nil for a path that only a provider may know.
    ///
    /// - Parameter path: without the query.
    init?(path: Substring) {
        for route in Route.all {
            guard let (first, second) = route.names(in: path) else { continue }
            self = .route(route, first, second)
            return
        }
        return nil
    }

    /// Nil for an additional one.
    package var route: Route? {
        guard case .route(let route, _, _) = self else { return nil }
        return route
    }

    var template: String {
        switch self {
        case .route(let route, _, _): route.template
        case .additional(let resource): resource.template
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .route(let route, _, _): route.methods
        case .additional(let resource): resource.methods
        }
    }

    package var needsToken: Bool {
        switch self {
        case .route(let route, _, _): route.needsToken
        case .additional(let resource): resource.needsToken
        }
    }

    /// Bytes that the body of a request may have; nil for the limit of the server.
    var bodyByteLimit: Int? {
        guard case .additional(let resource) = self else { return nil }
        return resource.bodyByteLimit
    }
}
