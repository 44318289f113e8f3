import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import ServerTestSupport
import SnapshotModels
import Synchronization
import Testing

/// A real daemon whose page browsers open, and the device "desk" that pushes to it.
final class PageDaemon: UsageTarget, Sendable {
    /// On the daemon's clock.
    let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    let home: TemporaryHome
    let port: Int
    let client: TestClient
    private let program: Mutex<RunningProgram>
    private let token: String

    init() async throws {
        home = try TemporaryHome()
        let (program, port) = try await Self.launch(home, port: 0)
        self.program = Mutex(program)
        self.port = port
        client = TestClient(port: port)
        let added = try await home.run("kvsd", ["device", "add", "desk", "--json"])
        let fields = try JSONDecoder().decode([String: String].self, from: added.output)
        token = try #require(fields["token"], "\(added)")
    }

    deinit {
        program.withLock { $0.send(SIGKILL) }
        home.remove()
    }

    private static func launch(_ home: TemporaryHome, port: Int) async throws -> (RunningProgram, Int) {
        let program = try RunningProgram(home, "kvsd", ["serve", "--listen", "127.0.0.1:\(port)"])
        return (program, try await program.errors.port(after: "listening on http://127.0.0.1:"))
    }

    var url: String { "http://127.0.0.1:\(port)/" }

    func stop() async {
        let program = program.withLock { $0 }
        program.send(SIGTERM)
        _ = await program.status()
    }

    /// Takes requests and answers none.
    func suspend() { program.withLock { $0.suspend() } }

    func resume() { program.withLock { $0.resume() } }

    /// On the same port.
    func startAgain() async throws {
        let (program, _) = try await Self.launch(home, port: port)
        self.program.withLock { $0 = program }
    }

    /// The output of a command of the program.
    @discardableResult
    func kvsd(_ arguments: [String]) async throws -> String {
        let outcome = try await home.run("kvsd", arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.trimmingCharacters(in: .newlines)
    }

    /// An address with a code that signs in a page.
    func address(_ options: [String] = []) async throws -> String { try await kvsd(["pair", "--page"] + options) }

    func removePage() async throws {
        let list = try await kvsd(["device", "list"])
        let id = try #require(list.firstMatch(of: #/(?m)^(\w+) .* page /#)?.1)
        try await kvsd(["device", "remove", String(id)])
    }

    /// Changes the pairings of unused codes.
    func changePairings(_ change: (inout [String: Any]) -> Void) throws {
        let file = URL(filePath: home.path + "/.local/share/ubiquity/kvsd/pairings.json")
        var table = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let pairings = try #require(table["pairings"] as? [[String: Any]])
        table["pairings"] = pairings.map { pairing in
            var pairing = pairing
            if pairing["state"] as? String == "pending" { change(&pairing) }
            return pairing
        }
        try JSONSerialization.data(withJSONObject: table).write(to: file)
    }

    /// The id of a device, by its name as `kvsd device list` shows it.
    func deviceID(_ name: String) async throws -> String {
        let list = try await kvsd(["device", "list"])
        let line = try #require(list.split(separator: "\n").first { $0.contains(" \(name) ") }, "\(list)")
        return String(line.prefix { $0 != " " })
    }

    // MARK: - Requests

    /// As the device "desk", unless there is an authorization or a cookie.
    func send(
        _ method: HTTPRequest.Method = .get, _ uri: String, _ headers: [String: String] = [:], body: String? = nil
    ) async throws -> TestResponse {
        var fields: HTTPFields = [:]
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        if fields[.cookie] == nil, fields[.authorization] == nil { fields[.authorization] = "Bearer \(token)" }
        return try await client.execute(
            uri: uri, method: method, headers: fields, body: body.map { ByteBuffer(string: $0) })
    }

    /// The number of pages that follow the store.
    func streamCount() async throws -> Int? {
        let metrics = try await send(.get, "/metrics").text
        return metrics.firstMatch(of: /(?m)^kvsd_streams_open (\d+)$/).flatMap { Int($0.1) }
    }

    func put(_ bytes: Data, key: String) async throws { try await client.put(bytes, key: key, token: token) }

    /// Pushes two accounts of "desk".
    func push(session: Double = 36) async throws {
        try await push(
            snapshot(
                "desk", provider("claude", "Claude", plan: "Max 20x", session: 12, weekly: 93),
                provider(
                    session: session,
                    cost: SyncCostSummary(
                        last30DaysCostUSD: 28.9, last30DaysTokens: 1_245_000,
                        daily: [
                            SyncDailyCost(
                                dayKey: "2026-09-18", costUSD: 1.42, totalTokens: 12_340,
                                modelBreakdowns: [SyncCostBreakdown(label: "gpt-5.2", costUSD: 1.42)])
                        ]))))
    }
}
