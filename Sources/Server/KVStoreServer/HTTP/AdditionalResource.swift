package import KVStoreWire
package import NIOHTTP1

/// Adds resources to a server that knows nothing about what they are for. It is asked about a path only if the server
/// itself has no resource there.
package protocol ResourceProvider: Sendable {
    /// What a path without the query names; nil for nothing. Called on any event loop.
    func resource(at path: Substring) -> (any AdditionalResource)?

    /// The document that describes a path, for errors; nil for that of the server. Called on any event loop.
    func document(of path: Substring) -> String?
}

extension ResourceProvider {
    package func document(of path: Substring) -> String? { nil }
}

/// A resource that a server has besides its own. Origins, tokens, limits and methods are checked as for those; scopes
/// are checked by the resource, with `Request.caller` or `Request.store`.
package protocol AdditionalResource: Sendable {
    /// The path without names, for the log.
    var template: String { get }
    var methods: [HTTPMethod] { get }
    var needsToken: Bool { get }
    /// Bytes that the body of a request may have; nil for the limit of the server.
    var bodyByteLimit: Int? { get }

    /// Completes on the event loop, at once or later, and must not block it.
    func respond(
        to request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>
    ) throws(Problem)
}
