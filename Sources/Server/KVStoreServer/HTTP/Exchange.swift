import KVStoreCore
import KVStoreWire

/// A request for one of the server's own resources while it is answered. On the event loop only.
package final class Exchange {
    let server: StoreServer
    let request: Request
    let loop: WatcherRegistry
    private let complete: Completion<Response>

    init(
        _ server: StoreServer, _ request: Request, _ loop: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) {
        self.server = server
        self.request = request
        self.loop = loop
        self.complete = complete
    }

    var engine: any StorageEngine { server.engine }
    var limits: ServerLimits { server.limits }

    /// Handles the request. Begins again when the engine asks for that.
    func begin(_ route: Route) {
        do throws(Problem) {
            let action = try route.action(for: request.method)
            if let scope = action.scope { _ = try request.caller(scope) }
            try action.handle(self)
        } catch {
            complete(.failure(error))
        }
    }

    // MARK: - The request

    /// Precondition: the route needs a scope.
    var caller: Device {
        guard let device = request.device else { preconditionFailure("the token was checked") }
        return device
    }

    private var names: (Substring, Substring) {
        guard case .route(_, let first, let second) = request.resource else { return ("", "") }
        return (first, second)
    }

    /// The store that the path names, if the caller may see it.
    var store: StoreID {
        get throws(Problem) { try Request.store(names.0, of: caller) }
    }

    var key: StoreKey {
        get throws(Problem) { try request.key(names.1) }
    }

    /// The id of a device in the path.
    var deviceID: String { String(names.0) }

    func decode<Document: Decodable>() throws(Problem) -> Document {
        try StoreServer.decode(request.body, depthLimit: limits.jsonDepth)
    }

    // MARK: - The answer

    func answer(_ answer: Answer) { complete(.success(.answer(answer))) }

    func finish(_ result: Result<Response, Problem>) { complete(result) }

    /// Answers with the error that `body` throws.
    func attempt(_ body: () throws(Problem) -> Void) {
        do throws(Problem) { try body() } catch { complete(.failure(error)) }
    }

    /// What completes a request to the engine.
    func answering<Value>(_ answer: @escaping (Value) throws(Problem) -> Answer) -> Completion<Value> {
        { [self] result in
            finish(result) { value throws(Problem) in self.answer(try answer(value)) }
        }
    }

    /// Continues with what the engine has completed with, or performs the request once more if it asks for that.
    func finish<Value>(_ result: Result<Value, Problem>, _ body: (Value) throws(Problem) -> Void) {
        if case .failure(.again) = result, let route = request.resource.route { return begin(route) }
        attempt { () throws(Problem) in try body(try result.get()) }
    }
}
