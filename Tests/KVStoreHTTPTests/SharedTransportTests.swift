import Foundation
import KVStore
import Testing

@testable import KVStoreHTTP

@Suite("Many stores on one transport", .timeLimit(.minutes(5)))
struct SharedTransportTests {
    private static let request = SyncRequest(
        replica: "8f3ac0de51b20417", epoch: "e1", since: 0,
        changes: [
            SyncChange(
                key: "k", stamp: "000000000001-00000000-00000000000000ff", value: Data([1]))
        ])

    private static let answer =
        #"{"epoch":"e1","cursor":1,"serverTime":5,"initial":false,"more":false,"changes":[],"#
        + #""rejected":[]}"#

    @Test("live streams leave requests their connections, however few those are")
    func streamsBesideRequests() async throws {
        let server = try await ScriptedServer { request in
            request.line.hasPrefix("GET ")
                ? ScriptedServer.stream(["event: opened\ndata: {}\n\n"])
                : ScriptedServer.answer("200 OK", body: Self.answer)
        }
        let transport = HTTPSyncTransport(
            DaemonConnection(
                address: try DaemonAddress(server.address),
                token: try #require(AccessToken("t0ken")), timeouts: HTTPTimeouts(),
                requestCount: 1))
        let (openings, opening) = AsyncStream<Bool>.makeStream()
        let streams = (0..<40).map { number in
            Task {
                // A stream that could not be opened ends.
                defer { opening.yield(false) }
                for try await event in transport.events(store: "s\(number)", since: 0, epoch: "e1")
                where event == .opened {
                    opening.yield(true)
                }
            }
        }
        var told = openings.makeAsyncIterator()
        for _ in streams { try #require(await told.next() == true) }
        #expect(try await transport.sync(Self.request, store: "s0").cursor == 1)
        transport.close()
        for stream in streams { _ = await stream.result }
        await server.stop()
    }
}
