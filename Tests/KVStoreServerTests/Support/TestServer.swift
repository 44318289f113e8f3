import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import KVStoreCore
import KVStoreLedger
import KVStoreTesting
import KVStoreWire
import Logging
import NIOCore
import ServerTestSupport
import TestSupport

@testable import KVStoreServer

/// A server on a simulated disk, with a few devices.
final class TestServer: Sendable {
    let directory: TemporaryDirectory
    let server: StoreServer
    let storage: SimulatedStorage
    private let tokens: [String: String]

    /// For machines on which many tests run at once.
    static var patient: ServerLimits {
        var limits = ServerLimits()
        limits.firstByteMilliseconds = 60_000
        return limits
    }

    /// Names of the devices that there are.
    static let laptop = "laptop"
    static let reader = "reader"
    static let limited = "limited"
    static let stranger = "stranger"

    init(
        limits: ServerLimits = TestServer.patient, segmentByteCount: Int = 1_048_576,
        stored: [Record] = [], now: @escaping @Sendable () -> Int64 = { Samples.now }
    ) throws {
        directory = try TemporaryDirectory()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var options = StorageEngine.Options()
        options.now = now
        options.ledger.segmentByteCount = segmentByteCount
        storage = SimulatedDisk().storage()
        if !stored.isEmpty {
            // What a daemon that ran before has left.
            let ledger = try Ledger(storage: storage, seed: 2)
            _ = try ledger.apply(
                Samples.request(stored), to: StoreID(account: "default", name: "s"),
                now: Samples.now)
            try ledger.close()
        }
        let engine = try StorageEngine(storage: storage, options: options, seed: 1, logger: logger)
        var tokens: [String: String] = [:]
        var random = SystemRandomNumberGenerator()
        let file = DeviceFile(dataDirectory: directory.path)
        func add(
            _ name: String, _ id: String, account: String = "default",
            scopes: [DeviceScope] = [.read, .write], stores: [String]? = nil
        ) throws {
            let token = DeviceToken(using: &random)
            tokens[name] = token.text
            let device = Device(
                id: id, name: name, account: account, scopes: scopes, stores: stores,
                created: 1_789_732_800_000, tokenSHA256: token.digest)
            try file.change { table throws(ServerError) in try table.add(device) }
        }
        try add(Self.laptop, "00000000000000a1")
        try add(Self.reader, "00000000000000a2", scopes: [.read])
        try add(Self.limited, "00000000000000a3", stores: ["allowed"])
        try add(Self.stranger, "00000000000000a4", account: "other")
        self.tokens = tokens
        server = StoreServer(
            engine: engine, devices: try DeviceRegistry(file, logger: logger),
            configuration: ServerConfiguration(limits: limits, logger: logger),
            replica: ReplicaID(rawValue: 0xD))
    }

    /// Leaves only the first device, as the examples of the protocol have it.
    func keepOnlyLaptop() throws {
        try DeviceFile(dataDirectory: directory.path).change { table throws(ServerError) in
            for name in [Self.reader, Self.limited, Self.stranger] {
                _ = try table.remove(name, account: nil)
            }
        }
    }

    func remove(_ device: String) throws {
        try DeviceFile(dataDirectory: directory.path).change { table throws(ServerError) in
            _ = try table.remove(device, account: nil)
        }
    }

    func token(_ device: String) -> String { tokens[device] ?? "" }

    func headers(_ device: String?, _ more: HTTPFields = [:]) -> HTTPFields {
        var headers = more
        if let device { headers[.authorization] = "Bearer \(token(device))" }
        return headers
    }

    func application(routes: [Route] = Route.all) -> some ApplicationProtocol {
        server.application(routes: routes, logger: server.configuration.logger)
    }

    /// Runs `body` against the router, and closes the log.
    func routed<Value: Sendable>(
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Value
    ) async throws -> Value {
        let value = try await application().test(.router, body)
        await server.engine.close()
        return value
    }

    /// Runs `body` against a real server, and closes the log.
    func served<Value: Sendable>(
        routes: [Route] = Route.all,
        _ body: @escaping @Sendable (any TestClientProtocol, Int) async throws -> Value
    ) async throws -> Value {
        let value = try await application(routes: routes).test(.live) { client in
            try await body(client, client.port ?? 0)
        }
        await server.engine.close()
        return value
    }

    func syncBody(_ request: SyncRequest) -> ByteBuffer {
        ByteBuffer(bytes: WireJSON.encode(request))
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    var problemCode: String? {
        let object = try? JSONSerialization.jsonObject(with: Data(body.readableBytesView))
        return (object as? [String: Any])?["code"] as? String
    }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }
}
