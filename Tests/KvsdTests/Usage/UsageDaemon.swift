import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import SnapshotModels
import TestSupport
import Testing
import UsageState

/// The real daemon with the device "desk", and what is pushed to it.
final class UsageDaemon: Sendable {
    static let path = "/v1/usage"
    /// Of the daemon's clock, in whole seconds, as a codec keeps them.
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
        daemon = try await DaemonProcess(
            dataPath: former.daemon.dataPath, arguments: arguments)
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

    /// Of the device of a token; by default of "desk".
    func deviceID(token: String? = nil) async throws -> String {
        let response = try await send(.get, "/v1/me", token: token)
        return try JSONDecoder().decode(
            DaemonIdentity.self, from: Data(response.body.readableBytesView)
        ).deviceID
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
    func get(
        _ query: String = "", token: String? = nil, _ headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        try await send(.get, Self.path + query, token: token, headers)
    }

    func report(_ query: String = "") async throws -> UsageReport {
        let response = try await get(query)
        try #require(response.status == .ok, "\(response.text)")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(UsageReport.self, from: Data(response.body.readableBytesView))
    }

    func put(_ bytes: Data, key: String, store: String = "default") async throws {
        let response = try await send(
            .put, "/v1/stores/\(store)/keys/\(key)", [.contentType: "application/octet-stream"],
            body: ByteBuffer(bytes: PropertyListValue.data(bytes).encoded()))
        try #require(response.status == .ok, "\(response.text)")
    }

    func push(_ snapshot: SyncedUsageSnapshot, store: String = "default") async throws {
        let key = SyncedUsageSnapshot.storeKey(deviceID: snapshot.deviceID ?? "none")
        try await put(try SnapshotCodec.encode(snapshot), key: key, store: store)
    }

    /// A history of 20 days in which each window of five hours was used evenly, up to 60 percent.
    func pushHistory(of provider: ProviderUsageSnapshot) async throws {
        var history = UsageHistory()
        let end = start.addingTimeInterval(150.5 * 60)
        for quarter in stride(from: 1_920, to: 0, by: -1) {
            let time = start.addingTimeInterval(Double(quarter) * -900)
            let rest = end.timeIntervalSince(time).truncatingRemainder(dividingBy: 18_000)
            var card = provider
            card.lastUpdated = time
            card.rateWindows = [
                SyncRateWindow(
                    usedPercent: 60 * (1 - rest / 18_000), windowMinutes: 300,
                    resetsAt: time.addingTimeInterval(rest))
            ]
            history.add([card], now: time)
        }
        try await put(
            HistoryCodec.encode(history), key: UsageHistory.storeKey(deviceID: "id-of-desk"))
    }

    /// A snapshot of one device.
    func snapshot(
        _ device: String = "desk", pushedSecondsAgo: Double = 0,
        _ providers: ProviderUsageSnapshot...
    ) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(
            providers: providers, syncTimestamp: start.addingTimeInterval(-pushedSecondsAgo),
            deviceName: device, deviceID: "id-of-\(device)")
    }

    /// A provider with windows of five hours and a week.
    func provider(
        _ id: String = "codex", _ name: String = "Codex", account: String? = "dev@example.test",
        session: Double = 36, weekly: Double = 81, observedSecondsAgo: Double = 0
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: name, accountEmail: account, loginMethod: "Plus",
            lastUpdated: start.addingTimeInterval(-observedSecondsAgo),
            rateWindows: [
                window(session, 300, resetsInMinutes: 150.5),
                window(weekly, 10_080, resetsInMinutes: 4_320.5),
            ],
            costSummary: SyncCostSummary(
                hourly: [
                    SyncHourlyCost(
                        hour: Int(start.timeIntervalSince1970) / 3_600, totalTokens: 310_000,
                        costUSD: 1.2)
                ]))
    }

    func window(
        _ percent: Double, _ minutes: Int, resetsInMinutes: Double, _ label: String? = nil
    ) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: percent, windowMinutes: minutes,
            resetsAt: start.addingTimeInterval(resetsInMinutes * 60), label: label)
    }
}
