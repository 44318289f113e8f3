import Foundation
import HTTPTypes
import KVStoreCore
import NIOCore
import ServerTestSupport
import SnapshotModels
import Synchronization
import StoreTestSupport
import Testing
import UsageState

@testable import KVStoreServer
@testable import OutgoingHTTP
@testable import UsageServer

/// A server in this process with notifications, which can be stopped and started again, and what is pushed to it.
final class NotificationDaemon: Sendable {
    static let path = "/v1/notifications"

    private struct Running {
        var server: StoreServer
        var service: NotificationService
        var client: TestClient
        var serving: Task<Void, any Error>
        var notifying: Task<Void, Never>
    }

    let directory: TemporaryDirectory
    let lines = LogLines()
    let token: String
    private let running: Mutex<Running>
    /// Seconds before now at which the next snapshot was observed; each is later than the one before.
    private let age = Mutex(60.0)

    init(privateHosts: [String] = ["127.0.0.1"]) async throws {
        directory = try TemporaryDirectory()
        let first = try await Self.start(directory.path, privateHosts, lines)
        running = Mutex(first)
        token = try first.server.addDevice("desk")
    }

    /// One that warns the browser `phone` of the service and has seen 40 % used.
    static func withPhone() async throws -> (NotificationDaemon, TestPushService, TestBrowser) {
        let (daemon, service) = (try await NotificationDaemon(), try await TestPushService())
        let phone = service.browser("phone")
        try await daemon.push(used: 40)
        try await daemon.subscribe(phone)
        try await daemon.waitForNotice()
        return (daemon, service, phone)
    }

    deinit {
        let running = running.withLock { $0 }
        running.notifying.cancel()
        running.serving.cancel()
    }

    private static func start(_ path: String, _ privateHosts: [String], _ lines: LogLines) async throws -> Running {
        var http = HTTPDelivery(privateHosts: privateHosts, permission: "allow ")
        // Whatever port a service of the tests has.
        http.isNamed = { privateHosts.contains($0.host) }
        http.send = HTTPExchange(limit: .seconds(5)).send
        http.sleep = { _ in }
        let service = NotificationService(
            dataDirectory: path, contact: "mailto:dev@example.test", http: http,
            logger: lines.logger, clock: .system(speed: 60))
        let server = try StoreServer(
            ServerConfiguration(storage: .directory(path), logger: lines.logger), provider: UsageResources(service))
        let serving = Task { try await server.run() }
        let notifying = Task { await service.run(on: server) }
        return Running(
            server: server, service: service, client: TestClient(port: try await server.port),
            serving: serving, notifying: notifying)
    }

    var server: StoreServer { running.withLock { $0.server } }
    var files: NotificationFile { running.withLock { $0.service.files } }

    func stop() async throws {
        let running = running.withLock { $0 }
        await running.client.close()
        await running.server.stop()
        try await running.serving.value
        running.notifying.cancel()
        await running.notifying.value
    }

    func restart(isRunning: Bool = true, privateHosts: [String] = ["127.0.0.1"]) async throws {
        if isRunning { try await stop() }
        let next = try await Self.start(directory.path, privateHosts, lines)
        running.withLock { $0 = next }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String = NotificationDaemon.path,
        _ token: String? = nil, type: String = "application/json", body: String? = nil
    ) async throws -> TestResponse {
        let client = running.withLock { $0.client }
        return try await client.execute(
            uri: path, method: method, headers: [.authorization: "Bearer \(token ?? self.token)", .contentType: type],
            body: body.map { ByteBuffer(string: $0) })
    }

    @discardableResult
    func subscribe(_ browser: TestBrowser, _ token: String? = nil) async throws -> TestResponse {
        let response = try await send(.put, Self.path, token, body: "{\"subscription\":\(browser.json)}")
        try #require(response.status == .ok, "\(response.text)")
        return response
    }

    /// Pushes that so much of a weekly limit of each tool is used, as a machine of the account does.
    func push(used: Double, of tools: [String] = ["Claude"], by device: String = "desk") async throws {
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let age = age.withLock { age in
            age -= 1
            return age
        }
        let snapshot = SyncedUsageSnapshot(
            providers: tools.map { tool in
                ProviderUsageSnapshot(
                    providerID: tool.lowercased(), providerName: tool,
                    accountEmail: "dev@example.test", lastUpdated: now.addingTimeInterval(-age),
                    rateWindows: [
                        SyncRateWindow(
                            usedPercent: used, windowMinutes: 10_080, resetsAt: now.addingTimeInterval(3_600))
                    ])
            },
            syncTimestamp: now.addingTimeInterval(-age), deviceName: device, deviceID: device)
        try await put(SnapshotCodec.encode(snapshot), SyncedUsageSnapshot.storeKey(deviceID: device))
    }

    func put(_ bytes: Data, _ key: String) async throws {
        let client = running.withLock { $0.client }
        let response = try await client.execute(
            uri: "/v1/stores/default/keys/\(key)", method: .put,
            headers: [
                .authorization: "Bearer \(token)", .contentType: "application/octet-stream",
            ], body: ByteBuffer(bytes: PropertyListValue.data(bytes).encoded()))
        try #require(response.status == .ok, "\(response.text)")
    }

    /// What alerts depend on, as any machine of the account reads it.
    func values() async throws -> [String: Data] {
        let store = StoreID(account: "default", name: "default")
        return try await server.values(of: store) { AlertWatch.Input.isKey($0.text) }?.dataByKey ?? [:]
    }

    var observerCount: Int { server.engine.loops[0].count }

    /// What the daemon publishes for the other machines.
    func notice() async throws -> AlertNotice? {
        let id = AccountAlerts.deviceID(instance: server.instance)
        return AlertNotice.notices(in: try await values())[id]
    }

    /// Whether all that was worth an alert has been delivered by somebody.
    func hasNothingPending() throws -> Bool {
        let state = try files.state(of: "default") ?? Data()
        return String(decoding: state, as: UTF8.self).contains("\"pending\":[]")
    }

    /// Waits until the daemon has published such a notice.
    func waitForNotice(where isExpected: (AlertNotice) -> Bool = { $0.watches }) async throws {
        try await wait { try await notice().map(isExpected) == true }
    }
}

/// What a service worker gets.
struct ShownNotification: Decodable, Equatable {
    var title: String
    var body: String
    var tag: String
    var url: String
    var at: String
}

extension TestBrowser {
    func shown(_ request: TestPushService.Request) throws -> ShownNotification {
        try JSONDecoder().decode(ShownNotification.self, from: decrypt(request.body))
    }
}
