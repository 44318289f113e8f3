import Foundation
import KVStore
import KVStoreWire
import Testing

@testable import KVStoreHTTP

@Suite("Several stores on one transport", .timeLimit(.minutes(5)))
struct SharedTransportTests {
    private static let cursor = SyncCursor(epoch: EpochID(rawValue: 0xe1), sequence: 1)

    @Test("live streams do not occupy the connections of requests")
    func streamsBesideRequests() async throws {
        let answer = SyncResponse(cursor: Self.cursor, serverTime: 5)
        let body = String(decoding: WireJSON.encode(answer), as: UTF8.self)
        let server = try await ScriptedServer { request in
            request.line.hasPrefix("GET ")
                ? ScriptedServer.stream(["event: opened\ndata: {}\n\n"]) : ScriptedServer.answer("200 OK", body: body)
        }
        let token = try #require(AccessToken("t0ken"))
        let transport = HTTPSyncTransport(
            DaemonConnection(
                address: try DaemonAddress(server.address), token: token, timeouts: HTTPTimeouts(), requestCount: 1))
        let (openings, opening) = AsyncStream<Bool>.makeStream()
        let streams = (0..<40).map { number in
            Task {
                // A stream that could not be opened ends.
                defer { opening.yield(false) }
                for try await event in transport.events(store: "s\(number)", since: Self.cursor)
                where event == .opened {
                    opening.yield(true)
                }
            }
        }
        var outcomes = openings.makeAsyncIterator()
        for _ in streams { try #require(await outcomes.next() == true) }
        let request = SyncRequest(replica: ReplicaID(rawValue: 1), since: nil)
        #expect(try await transport.sync(request, store: "s0") == answer)
        transport.close()
        for stream in streams { _ = await stream.result }
        await server.stop()
    }
}
