import KVStoreServer
import KVStoreWire
import NIOHTTP1

/// What lets a browser give an answer to a page of another origin (WHATWG Fetch, section 3.3). A
/// daemon allows no other origins.
enum CrossOrigin {
    /// - Parameter isPreflight: whether the browser asks which requests the page may make.
    static func fields(_ origin: String, isPreflight: Bool) -> [(name: String, value: String)] {
        let fields = [
            (name: "Access-Control-Allow-Origin", value: origin), (name: "Vary", value: "Origin"),
        ]
        guard isPreflight else {
            return fields + [
                (
                    name: "Access-Control-Expose-Headers",
                    value: "Allow, ETag, Retry-After, Ubiquity-Sequence, Ubiquity-Stamp"
                )
            ]
        }
        return fields + [
            (name: "Access-Control-Allow-Methods", value: "GET, HEAD, POST, PUT, PATCH, DELETE"),
            (
                name: "Access-Control-Allow-Headers",
                value: "Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, "
                    + "Ubiquity-Account"
            ),
            (name: "Access-Control-Allow-Private-Network", value: "true"),
            (name: "Access-Control-Max-Age", value: "600"),
        ]
    }
}

/// Any path, asked for by a browser before a page of an allowed origin makes a request.
struct Preflight: AdditionalResource {
    var template: String { "preflight" }
    var methods: [HTTPMethod] { [.OPTIONS] }
    var needsToken: Bool { false }
    var bodyByteLimit: Int? { 0 }

    func respond(
        to request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>
    ) { complete(.success(.answer(.noContent))) }
}
