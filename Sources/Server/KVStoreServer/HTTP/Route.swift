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

    /// Where the names are in a path, empty for those that the template lacks; nil for another path.
    fileprivate func names(in path: UnsafeBufferPointer<UInt8>) -> (Range<Int>, Range<Int>)? {
        var (first, second) = (0..<0, 0..<0)
        var position = 0
        for index in 0..<pieces.count {
            if index > 0 {
                let start = position
                while position < path.count, path[position] != UInt8(ascii: "/") { position += 1 }
                if index == 1 { first = start..<position } else { second = start..<position }
            }
            let count = pieces[index].count
            guard path.count - position >= count else { return nil }
            for offset in 0..<count where path[position + offset] != pieces[index][offset] { return nil }
            position += count
        }
        return position == path.count ? (first, second) : nil
    }

    func action(for method: HTTPMethod) throws(Problem) -> Action {
        let method = method == .HEAD ? .GET : method
        for action in actions where action.method == method { return action }
        throw .method(methods)
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
        // By bytes: most requests name a key, and splitting characters would take longer than the rest of routing.
        let found = path.utf8.withContiguousStorageIfAvailable(Self.find)
        guard let (route, first, second) = found ?? Array(path.utf8).withUnsafeBufferPointer(Self.find) else {
            return nil
        }
        func name(_ range: Range<Int>) -> Substring {
            let start = path.utf8.index(path.startIndex, offsetBy: range.lowerBound)
            return path[start..<path.utf8.index(start, offsetBy: range.count)]
        }
        self = .route(route, name(first), name(second))
    }

    private static func find(_ path: UnsafeBufferPointer<UInt8>) -> (Route, Range<Int>, Range<Int>)? {
        for route in Route.all {
            if let (first, second) = route.names(in: path) { return (route, first, second) }
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
