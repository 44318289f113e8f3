import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import ServerTestSupport
import StoreTestSupport
import Testing

/// A daemon under attack, which an honest client uses meanwhile.
struct AttackedDaemon: Sendable {
    let process: DaemonProcess
    let honest: HonestClient
    /// The token of a device that belongs to the account, but is not trusted.
    let token: String
    let tls: NIOSSLContext?
    /// A connection of the attacking device from before the attack.
    fileprivate let monitor: TestClient

    /// The limits of an attacked daemon: small, so that attacks are cheap.
    struct Limits {
        var connections = 128
        var memory = 8 << 20
        var pendingBodies = 8 << 20
        var others: [String: Int] = [:]
        /// What the attack makes the daemon read or write besides, at a time.
        var transientByteCount = 0

        fileprivate var arguments: [String] {
            let settings = others.merging([
                "connections": connections, "surplus-connections": surplus,
                "memory-limit": memory, "pending-body-bytes": pendingBodies,
            ]) { $1 }
            return settings.flatMap { ["--set", "\($0)=\($1)"] }
        }

        private var surplus: Int { 16 }

        /// A record exists in memory and once more while it is written or compacted; a body once while it arrives, and
        /// once more while its buffer grows. A connection takes its buffers: of the decoder, of TLS and of
        /// what was not sent.
        fileprivate var addedByteCount: Int {
            let connection = 64 * 1_024
            return 2 * memory + 2 * pendingBodies + (connections + surplus) * connection + transientByteCount
        }
    }

    /// Attacks a daemon. Expects that the honest client notices nothing, that nothing acknowledged is lost, and that
    /// memory stays below what the limits permit.
    ///
    /// - Parameter isKilled: whether the daemon is killed at the end of the attack and started again.
    static func withstands(
        _ limits: Limits = Limits(), arguments: [String] = [], isKilled: Bool = false, isEncrypted: Bool = false,
        _ attack: (AttackedDaemon) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/d"
        let honest = HonestClient(
            token: try await DaemonProcess.addDevice("honest", dataPath: data, arguments: ["--trusted"]))
        let token = try await DaemonProcess.addDevice("attacker", dataPath: data)
        let arguments = limits.arguments + (isEncrypted ? ["--tls"] : []) + arguments
        var process = try await DaemonProcess(dataPath: data, arguments: arguments)
        let tls = isEncrypted ? try Self.tls() : nil
        let attacked = AttackedDaemon(
            process: process, honest: honest, token: token, tls: tls, monitor: TestClient(port: process.port, tls: tls))
        try await attacked.authenticateMonitor()
        let running = Task { [client = attacked.client()] in await honest.run(client) }
        await honest.waitForRounds(10)
        let before = try PeakMemory.byteCount(of: process.identifier)
        let result: Result<Void, any Error>
        do { result = .success(try await attack(attacked)) } catch { result = .failure(error) }
        await honest.waitForRounds(5)
        let peak = try PeakMemory.byteCount(of: process.identifier)
        // Killed under its load, which the honest client then cannot but notice.
        let failures = isKilled ? honest.failures : nil
        if isKilled { await process.kill() }
        honest.stop()
        await running.value
        try result.get()
        #expect((failures ?? honest.failures).isEmpty)
        if isKilled { process = try await DaemonProcess(dataPath: data, arguments: arguments) }
        let reader = TestClient(port: process.port, tls: tls)
        #expect(try await honest.lost(from: reader).isEmpty)
        await reader.close()
        await attacked.monitor.close()
        #expect(await process.stop() == 0)
        if let before, let peak {
            #expect(peak - before <= limits.addedByteCount)
            guard ProcessInfo.processInfo.environment["UBIQUITY_MEASURE"] != nil else { return }
            let permitted = before + limits.addedByteCount
            print("\(Test.current?.name ?? ""): \(before >> 20), \(peak >> 20), \(permitted >> 20) MiB")
        }
    }

    /// Accepts every certificate.
    static func tls(maximum: TLSVersion? = nil) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.maximumTLSVersion = maximum
        return try NIOSSLContext(configuration: configuration)
    }

    private func authenticateMonitor() async throws {
        let answer = try await monitor.execute(
            uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(token)"])
        try #require(answer.status == .ok)
    }

    func client() -> TestClient { TestClient(port: process.port, tls: tls) }

    func open(reads: Bool = true) async throws -> RawConnection {
        try await .open(port: process.port, reads: reads, tls: tls)
    }

    /// Opens many connections, each of which sends the same and stays open.
    func open(_ count: Int, sending text: String = "", reads: Bool = true) async throws -> [RawConnection] {
        try await withThrowingTaskGroup(of: RawConnection.self) { group in
            var opened: [RawConnection] = []
            for index in 0..<count {
                if index >= 64, let next = try await group.next() { opened.append(next) }
                group.addTask {
                    let connection = try await open(reads: reads)
                    // The daemon may close it at once.
                    if !text.isEmpty { try? await connection.send(text) }
                    return connection
                }
            }
            for try await connection in group { opened.append(connection) }
            return opened
        }
    }

    /// The head of a request, without the empty line after it.
    func head(_ line: String, token: String? = nil, _ fields: String = "") -> String {
        let authorization = (token ?? self.token).isEmpty ? "" : "Bearer \(token ?? self.token)"
        return "\(line) HTTP/1.1\r\nHost: localhost\r\n"
            + (authorization.isEmpty ? "" : "Authorization: \(authorization)\r\n") + fields
    }

    /// Sends bytes and the end of the input over a connection of their own; returns the answers.
    func answers(to bytes: ByteBuffer) async throws -> Answers {
        let connection = try await open()
        // The daemon may answer and close before it has read everything.
        try? await connection.channel.writeAndFlush(bytes)
        try? await connection.channel.close(mode: .output)
        return Answers(await connection.rest())
    }

    func answers(to text: String) async throws -> Answers {
        try await answers(to: ByteBuffer(string: text))
    }

    /// Answers to the same bytes sent over many connections at once.
    func answers(to text: String, connections: Int) async throws -> [Answers] {
        try await withThrowingTaskGroup(of: Answers.self) { group in
            for _ in 0..<connections { group.addTask { try await answers(to: text) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// A value of `GET /metrics`.
    func metric(_ name: String) async throws -> Int {
        let text = try await monitor.execute(uri: "/metrics", method: .get).text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) }, "\(text)")
    }
}

/// What a daemon sent over a connection until it closed it.
struct Answers: CustomStringConvertible, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    var statuses: [Int] {
        text.matches(of: #/HTTP/1\.1 (\d\d\d) /#).compactMap { Int($0.1) }
    }

    var codes: [String] { text.matches(of: /"code":\s*"([a-z-]+)"/).map { String($0.1) } }

    var description: String { text.isEmpty ? "closed" : text }
}
