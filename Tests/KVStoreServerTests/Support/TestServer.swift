import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import KVStoreWire
import Logging
import NIOCore
import NIOPosix
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

/// A server on a simulated disk, with a few devices.
final class TestServer: Sendable {
    let directory: TemporaryDirectory
    let server: StoreServer
    let storage: SimulatedStorage
    let deviceStorage: any DeviceStorage
    private let tokens: [String: String]

    /// For machines on which many tests run at once.
    static var patient: ServerLimits {
        var limits = ServerLimits()
        limits.firstByteMilliseconds = 60_000
        return limits
    }

    /// Every route, of the store "s" and the key "k".
    static let routes: [(method: String, path: String)] = [
        ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"), ("GET", "/v1/me"),
        ("GET", "/v1/devices"), ("GET", "/v1/stores"), ("POST", "/v1/stores/s/sync"),
        ("GET", "/v1/stores/s/changes"), ("GET", "/v1/stores/s/keys"),
        ("GET", "/v1/stores/s/keys/k"), ("PUT", "/v1/stores/s/keys/k"),
        ("DELETE", "/v1/stores/s/keys/k"), ("DELETE", "/v1/stores/s"),
        ("PATCH", "/v1/devices/0"), ("DELETE", "/v1/devices/0"), ("POST", "/v1/pairings"),
    ]

    /// Names of the devices that there are.
    static let laptop = "laptop"
    static let reader = "reader"
    static let limited = "limited"
    static let stranger = "stranger"
    static let admin = "admin"

    init(
        limits: ServerLimits = TestServer.patient, segmentByteCount: Int = 1_048_576, stored: [StoreRecord] = [],
        recoveryDelay: TimeAmount = .hours(1), encryption: ServerConfiguration.Encryption = .none,
        logger: Logger? = nil, loops: [any EventLoop] = Array(MultiThreadedEventLoopGroup.singleton.makeIterator()),
        now: @escaping @Sendable () -> Int64 = { Samples.now }
    ) throws {
        directory = try TemporaryDirectory()
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let logger = logger ?? quiet
        var options = LogEngine.Options()
        options.now = now
        options.recoveryDelay = recoveryDelay
        options.ledger.segmentByteCount = segmentByteCount
        storage = SimulatedDisk().storage()
        if TestEngine.current == .log, !stored.isEmpty {
            // What a daemon that ran before has left.
            let ledger = try Ledger(storage: storage, seed: 2)
            _ = try ledger.apply(Samples.request(stored), to: StoreID(account: "default", name: "s"), now: Samples.now)
            try ledger.close()
        }
        let engine: any StorageEngine
        let devices: any DeviceDirectory
        switch TestEngine.current {
        case .log:
            engine = try LogEngine(storage: storage, options: options, seed: 1, logger: logger, loops: loops)
            let file = DeviceFile(dataDirectory: directory.path)
            deviceStorage = file
            devices = try DeviceRegistry(file, logger: logger)
        case .database:
            (engine, devices, deviceStorage) = try Self.database(stored: stored, now: now, logger: logger)
        }
        var tokens: [String: String] = [:]
        var random = SystemRandomNumberGenerator()
        let storedDevices = deviceStorage
        func add(
            _ name: String, _ id: String, account: String = "default",
            scopes: [DeviceScope] = [.read, .write], stores: [String]? = nil
        ) throws {
            let token = DeviceToken(using: &random)
            tokens[name] = token.text
            let device = Device(
                id: id, name: name, account: account, scopes: scopes, stores: stores,
                created: 1_789_732_800_000, tokenSHA256: token.digest)
            try storedDevices.change(.account(account)) { table throws(ServerError) in
                try table.add(device)
            }
        }
        try add(Self.laptop, "00000000000000a1")
        try add(Self.reader, "00000000000000a2", scopes: [.read])
        try add(Self.limited, "00000000000000a3", stores: ["allowed"])
        try add(Self.stranger, "00000000000000a4", account: "other")
        try add(Self.admin, "00000000000000a5", scopes: [.read, .admin])
        self.tokens = tokens
        server = StoreServer(
            engine: engine, devices: devices,
            certificate: try ServerCertificate(encryption, directory: directory.path, logger: logger),
            configuration: ServerConfiguration(limits: limits, logger: logger), replica: ReplicaID(rawValue: 0xD))
    }

    /// With the limits of `patient` but for a change.
    convenience init(_ change: (inout ServerLimits) -> Void) throws {
        var limits = TestServer.patient
        change(&limits)
        try self.init(limits: limits)
    }

    /// A live stream of the store "s", after its first event.
    func openStream(
        _ port: Int, _ query: String = "", as device: String = TestServer.laptop,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> EventReader {
        var reader = try await EventReader(port: port, path: "/v1/stores/s/changes\(query)", token: token(device))
        #expect(await reader.next()?.name == "opened", sourceLocation: sourceLocation)
        return reader
    }

    /// On a new database.
    private static func database(
        stored: [StoreRecord], now: @escaping @Sendable () -> Int64, logger: Logger
    ) throws -> (any StorageEngine, any DeviceDirectory, any DeviceStorage) {
        #if PostgreSQL
            let database = Database(try TemporaryPostgreSQL.shared().makeDatabase())
            var options = DatabaseEngine.Options()
            options.now = now
            let engine = try DatabaseEngine(database, options: options, logger: logger)
            let storage = try DeviceDatabase(database)
            let devices = DatabaseDevices(storage, node: engine.node, logger: logger)
            engine.observeDevices { [weak devices] in devices?.markChanged(ofAccount: $0) }
            try storage.addAccount("other")
            let result = (engine, devices, storage)
            guard !stored.isEmpty else { return result }
            let loop = engine.loops[0]
            let answer = loop.loop.makePromise(of: SyncResponse.self)
            loop.loop.execute {
                engine.sync(
                    Samples.request(stored), store: StoreID(account: "default", name: "s"),
                    by: .writer(ofAccount: "default"), on: loop
                ) { answer.completeWith($0.mapError { $0 as any Error }) }
            }
            _ = try answer.futureResult.wait()
            return result
        #else
            preconditionFailure("there is no database")
        #endif
    }

    deinit {
        // Otherwise the server has closed it.
        if server.engine is LogEngine { return }
        Task.detached { [engine = server.engine] in await engine.close() }
    }

    /// Leaves the devices that the examples of the protocol have: an administrator and a reader.
    func keepDocumentedDevices() throws {
        try deviceStorage.change(.all) { table throws(ServerError) in
            for name in [Self.limited, Self.stranger, Self.admin] {
                _ = try table.remove(name, account: nil)
            }
            var laptop = try table.remove(Self.laptop, account: nil)
            laptop.scopes.append(.admin)
            let reader = try table.remove(Self.reader, account: nil)
            try table.add(laptop)
            try table.add(reader)
        }
    }

    func addPairing(code: String) throws {
        try deviceStorage.changePairings(.account("default")) { table, _ throws(ServerError) in
            let pairing = Pairing(id: String(code.prefix(8)), codeSHA256: TokenDigest(of: code), created: Samples.now)
            try table.add(pairing, now: Samples.now)
        }
    }

    func remove(_ device: String) throws {
        try deviceStorage.change(.device(device)) { table throws(ServerError) in
            _ = try table.remove(device, account: nil)
        }
    }

    /// Makes a change of known devices, and returns when the server has it: a database notifies it.
    func applied(_ change: () throws -> Void) async throws {
        let former = server.devices.generation
        try change()
        guard TestEngine.current == .database else { return }
        try await wait { server.devices.generation != former }
    }

    func token(_ device: String) -> String { tokens[device] ?? "" }

    func headers(_ device: String?, _ more: HTTPFields = [:]) -> HTTPFields {
        var headers = more
        if let device { headers[.authorization] = "Bearer \(token(device))" }
        return headers
    }

    /// Sends a request of a device.
    func send(
        _ client: TestClient, _ method: HTTPRequest.Method, _ path: String, as device: String? = TestServer.laptop,
        _ fields: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> TestResponse {
        try await client.execute(uri: path, method: method, headers: headers(device, fields), body: body)
    }

    /// A request as text.
    ///
    /// - Parameter fields: further header fields, each with its line end.
    func request(
        _ start: String, version: String = "1.1", _ fields: String = "", body: String? = nil,
        as device: String = TestServer.laptop
    ) -> String {
        "\(start) HTTP/\(version)\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(token(device))\r\n\(fields)"
            + (body.map { "Content-Length: \($0.utf8.count)\r\n\r\n\($0)" } ?? "\r\n")
    }

    /// Runs `body` while the server runs, then stops it.
    func served<Value: Sendable>(
        _ body: @escaping @Sendable (TestClient, Int) async throws -> Value
    ) async throws -> Value {
        try await TestClient.served(by: server.run, port: { try await server.port }, stop: server.stop, body)
    }

    func syncBody(_ request: SyncRequest) -> ByteBuffer {
        ByteBuffer(bytes: WireJSON.encode(request))
    }
}
