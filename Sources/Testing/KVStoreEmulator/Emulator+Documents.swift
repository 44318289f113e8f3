import NIOHTTP1
package import Essentials
import KVStoreWire
package import KVStoreServer
import NIOCore

extension Emulator {
    /// Replaces all stores of a world by those of an exported document, as `PUT …/export` does. All or nothing.
    package func importWorld(_ world: String, from document: Data) async throws(ServerError) {
        let target = EmulatorRoute.start + "/worlds/" + PercentEncoding.encode(world) + "/export"
        let watchers = interceptor.engine.loops[0]
        let promise = watchers.loop.makePromise(of: Void.self)
        watchers.loop.execute { [server, interceptor] in
            guard let resource = server.resource(at: target[...]) else {
                return promise.fail(Problem.badWorldName)
            }
            let request = Request(
                method: .PUT, fields: RequestFields([:]), target: target, resource: resource,
                query: "", device: nil, address: "local", body: ByteBuffer(bytes: document))
            interceptor.receive(request, by: server, on: watchers) { result in
                promise.completeWith(result.map { _ in }.mapError { $0 as any Error })
            }
        }
        do {
            try await promise.futureResult.get()
        } catch {
            throw ServerError(.unreadable, (error as? Problem)?.detail ?? "\(error)")
        }
    }

    /// All stores of a world as the document that ``importWorld`` reads; without stores for a world that does not
    /// exist. May be called after the end.
    package func export(_ world: String) -> Data {
        let name = WorldToken(world)?.world ?? world
        let engine = interceptor.engine
        return (engine.read { $0.document(of: name) } ?? WorldDocument([])).encoded
    }
}
