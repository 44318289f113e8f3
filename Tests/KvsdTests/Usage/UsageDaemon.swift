import Foundation
import HTTPTypes
import KVStoreWire
import NIOCore
import ServerTestSupport
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

/// The real daemon with the device "desk", and what is pushed to it.
final class UsageDaemon: UsageTarget, Sendable {
    static let path = "/v1/usage"
    /// By the daemon's clock.
    let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    let token: String
    let daemon: DaemonProcess
    private let directory: TemporaryDirectory
    private let client: TestClient

    init(arguments: [String] = []) async throws {
        directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        token = try await DaemonProcess.addDevice("desk", dataPath: data)
        daemon = try await DaemonProcess(dataPath: data, arguments: arguments)
        client = TestClient(port: daemon.port)
    }

    private init(_ former: UsageDaemon, arguments: [String]) async throws {
        (directory, token) = (former.directory, former.token)
        daemon = try await DaemonProcess(dataPath: former.daemon.dataPath, arguments: arguments)
        client = TestClient(port: daemon.port)
    }

    /// Kills the daemon; returns another one with the same data.
    func killed(arguments: [String]) async throws -> UsageDaemon {
        await daemon.kill()
        return try await UsageDaemon(self, arguments: arguments)
    }

    var socketPath: String { daemon.dataPath + "/kvsd.sock" }

    func addDevice(_ name: String, _ arguments: String...) async throws -> String {
        try await DaemonProcess.addDevice(name, dataPath: daemon.dataPath, arguments: arguments)
    }

    /// The id of the device with a token; by default of "desk".
    func deviceID(token: String? = nil) async throws -> String {
        try await send(.get, "/v1/me", token: token).decoded(DaemonIdentity.self).deviceID
    }

    func send(
        _ method: HTTPRequest.Method = .get, _ uri: String, token: String? = nil,
        _ headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> TestResponse {
        var headers = headers
        headers[.authorization] = "Bearer \(token ?? self.token)"
        return try await client.execute(uri: uri, method: method, headers: headers, body: body)
    }

    /// The answer to `GET /v1/usage` with a query.
    func get(_ query: String = "", token: String? = nil, _ headers: HTTPFields = [:]) async throws -> TestResponse {
        try await send(.get, Self.path + query, token: token, headers)
    }

    func report(_ query: String = "") async throws -> UsageReport {
        let response = try await get(query)
        try #require(response.status == .ok, "\(response.text)")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(UsageReport.self, from: Data(response.body.readableBytesView))
    }

    func put(_ bytes: Data, key: String) async throws {
        try await client.put(bytes, key: key, token: token)
    }

    /// 310,000 tokens in the current hour.
    var cost: SyncCostSummary {
        SyncCostSummary(
            hourly: [
                SyncHourlyCost(hour: Int(start.timeIntervalSince1970) / 3_600, totalTokens: 310_000, costUSD: 1.2)
            ])
    }
}
