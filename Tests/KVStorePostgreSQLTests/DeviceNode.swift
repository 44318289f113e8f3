// The storage engine on PostgreSQL, against a real server. Not here: libpq (Client), and requests
// (KVStoreServerTests).

#if PostgreSQL
    import Dispatch
    import Essentials
    import HTTPTypes
    import KVStoreSimulation
    import KVStoreWire
    import Logging
    import ServerTestSupport
    import Synchronization

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    /// A daemon with the devices of a database and stores of its own.
    final class DeviceNode: Sendable {
        let id = Int64.random(in: 1 ... .max)
        let storage: DeviceDatabase
        let devices: DatabaseDevices
        let server: StoreServer
        let address: String
        private let isListening = Atomic(true)

        static let limit = Duration.seconds(60)

        /// - Parameter address: of an empty database, or of that of another node.
        init(_ address: String, requestMilliseconds: Int64 = 30_000) throws {
            self.address = address
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let database = Database(address)
            try database.prepare()
            storage = try DeviceDatabase(database)
            devices = DatabaseDevices(storage, node: id, logger: logger)
            var limits = ServerLimits()
            limits.firstByteMilliseconds = 60_000
            limits.requestMilliseconds = requestMilliseconds
            server = StoreServer(
                engine: try LogEngine(storage: SimulatedDisk().storage(), seed: UInt64(bitPattern: id), logger: logger),
                devices: devices, configuration: ServerConfiguration(limits: limits, logger: logger))
            try recordNode(secondsAgo: 0)
        }

        func sql(_ text: String) throws {
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: Self.limit)
            try connection.script(text, timeout: Self.limit)
        }

        func number(_ query: String) throws -> Int64? {
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: Self.limit)
            return try connection.execute(PostgreSQLStatement("number", query), timeout: Self.limit).int64(0, 0)
        }

        /// As the engine does now and then.
        func recordNode(secondsAgo: Int) throws {
            try sql(
                """
                INSERT INTO ubiquity.node (id, name, url, version, started, seen)
                VALUES (\(id), 'n', '', '', 0, now() - interval '\(secondsAgo) seconds')
                ON CONFLICT (id) DO UPDATE SET seen = excluded.seen
                """)
        }

        func found(_ token: String) async throws -> FoundDevice {
            let digest = TokenDigest(of: token)
            let present = devices.find(digest, now: 1)
            guard present == .undetermined else { return present }
            let problem = await withCheckedContinuation { continuation in
                devices.lookUp(digest) { continuation.resume(returning: $0) }
            }
            if let problem { throw problem }
            return devices.find(digest, now: 1)
        }

        func described(_ account: String = "default") async throws -> [DaemonDevice] {
            try await withCheckedContinuation { continuation in
                devices.describe(account: account) { continuation.resume(returning: $0) }
            }.get()
        }

        /// Runs `body` while the server runs and hears of changes, then stops it.
        func served<Value: Sendable>(
            _ body: @escaping @Sendable (TestClient, Int) async throws -> Value
        ) async throws -> Value {
            DispatchQueue(label: "listener").async { [self] in listen() }
            defer { isListening.store(false, ordering: .relaxed) }
            return try await TestClient.served(by: server.run, port: { try await server.port }, stop: server.stop, body)
        }

        private func listen() {
            while isListening.load(ordering: .relaxed) {
                guard
                    let connection = try? PostgreSQLConnection(address, applicationName: "tests", timeout: .seconds(1))
                else { continue }
                _ = try? connection.script("LISTEN ubiquity_devices", timeout: Self.limit)
                devices.markChanged(ofAccount: nil)
                while isListening.load(ordering: .relaxed),
                    let changes = try? connection.waitForNotifications(timeout: .milliseconds(50))
                {
                    for change in changes { devices.markChanged(ofAccount: change.payload) }
                }
            }
        }
    }

    extension HTTPFields {
        static func token(_ token: String) -> HTTPFields { [.authorization: "Bearer \(token)"] }
    }
#endif
