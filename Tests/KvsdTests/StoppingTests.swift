import Foundation
import KVStoreCore
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

/// How the real program ends, whatever its clients have left open.
@Suite("Stopping", .timeLimit(.minutes(5)))
struct StoppingTests {
    /// What a client has open when the signal arrives.
    enum Client: String, CaseIterable, Sendable {
        case idleConnection, idleStream, streamWithBody, streamThatIsNotRead
        case partOfHead, partOfBody, answersThatAreNotRead
    }

    private let directory = try! TemporaryDirectory()

    private func started() async throws -> (daemon: DaemonProcess, token: String) {
        let data = directory.path + "/data"
        let token = try await DaemonProcess.addDevice("laptop", dataPath: data)
        return (try await DaemonProcess(dataPath: data), token)
    }

    /// Returns once the daemon has the connection in the state that the case names: it has answered
    /// a request that arrived in the same packet as what follows.
    private func open(_ client: Client, _ daemon: DaemonProcess, _ token: String) async throws -> RawConnection {
        func request(_ start: String, _ more: String = "") -> String {
            "\(start) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\(more)\r\n"
        }
        let text =
            switch client {
            case .idleConnection: ""
            case .idleStream, .streamThatIsNotRead: request("GET /v1/stores/s/changes")
            case .streamWithBody:
                request("GET /v1/stores/s/changes", "Transfer-Encoding: chunked\r\n")
                    + String(repeating: "5\r\nhello\r\n", count: 64)
            case .partOfHead: "GET /v1/me HTTP/1.1\r\nHost: local"
            case .partOfBody:
                request(
                    "PUT /v1/stores/s/keys/part",
                    "Content-Type: application/octet-stream\r\nContent-Length: 100\r\n") + "part"
            case .answersThatAreNotRead:
                String(
                    repeating: request("GET /v1/stores/s/keys/k0", "Accept: application/octet-stream\r\n"), count: 20)
            }
        let connection = try await RawConnection.open(port: daemon.port, sending: request("GET /healthz") + text)
        try await connection.wait(for: client == .idleStream ? "event: opened" : "ok\n")
        if client == .streamThatIsNotRead || client == .answersThatAreNotRead {
            try await connection.channel.setOption(.autoRead, value: false).get()
        }
        return connection
    }

    /// More than the buffers of a connection hold.
    private func fill(_ daemon: DaemonProcess, _ token: String) async throws {
        for index in 0..<4 {
            let connection = try await RawConnection.open(port: daemon.port)
            try await connection.send(
                """
                PUT /v1/stores/s/keys/k\(index) HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(token)\r
                Content-Type: application/octet-stream\r
                Content-Length: 1000000\r
                \r

                """ + String(repeating: "v", count: 1_000_000))
            try await connection.wait(for: "HTTP/1.1 200 ")
            await connection.close()
        }
    }

    @Test("one signal ends the daemon with status 0 in at most 10 s, whatever is open", arguments: Client.allCases)
    func oneSignal(client: Client) async throws {
        let (daemon, token) = try await started()
        try await fill(daemon, token)
        let connection = try await open(client, daemon, token)
        let start = ContinuousClock.now
        #expect(await daemon.stop() == 0)
        // With an allowance for a busy machine.
        #expect(ContinuousClock.now - start < .seconds(15))
        await connection.close()
        let dump = try await DaemonProcess.run(["dump", "--data", daemon.dataPath])
        #expect(dump.status == 0)
        #expect(dump.output.split(separator: "\n").count == 4, "\(dump.output.prefix(500))")
    }

    @Test("a second signal ends the daemon at once")
    func twoSignals() async throws {
        let (daemon, token) = try await started()
        let connection = try await open(.partOfBody, daemon, token)
        let start = ContinuousClock.now
        let status = await daemon.stop(signals: [SIGTERM, SIGINT])
        #expect(status == 128 + SIGTERM || status == 128 + SIGINT)
        #expect(ContinuousClock.now - start < .seconds(4))
        await connection.close()
    }
}
