#if PostgreSQL
    import Foundation
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer
    import KVStoreWire
    import KVStorePostgreSQL
    import ServerTestSupport
    import StoreTestSupport

    extension PostgreSQLConnection {
        static let testLimit = Duration.seconds(60)

        convenience init(testing address: String) throws(PostgreSQLError) {
            try self.init(address, applicationName: "tests", timeout: Self.testLimit)
        }

        func run(_ sql: String) throws(PostgreSQLError) { try script(sql, timeout: Self.testLimit) }

        /// The number that a query finds; nil while it cannot be asked.
        func number(_ query: String) -> Int64? {
            let statement = PostgreSQLStatement("", query)
            return try? execute(statement, timeout: Self.testLimit).int64(0, 0)
        }
    }

    extension DataDirectory {
        /// Puts stores with keys into the log while no daemon runs.
        func fill(stores: Int, keys: Int) throws {
            let ledger = try openLedger()
            for store in 0..<stores {
                _ = try ledger.accept(
                    (0..<keys).map { Samples.change("k\($0)", Samples.stamp(), "\(store)") },
                    to: StoreID(account: "default", name: "s\(store)"), now: Samples.now)
            }
            try ledger.close()
        }
    }

    extension DaemonProcess {
        /// Over a connection of its own.
        func sync(_ token: String, _ request: SyncRequest) async throws -> SyncResponse {
            let client = TestClient(port: port)
            let answer = try await client.sync(token, request)
            await client.close()
            return answer
        }

        /// Kills a command that copies into a database when it has copied a part.
        static func killCopy(_ arguments: [String], into address: String) async throws {
            let blocker = try PostgreSQLConnection(testing: address)
            let command = Task { try await run(arguments) }
            try await wait { blocker.number("SELECT count(*) FROM ubiquity.store") ?? 0 > 0 }
            try blocker.run("BEGIN; LOCK TABLE ubiquity.record")
            command.cancel()
            _ = try await command.value
            try blocker.run("ROLLBACK")
            // Its transaction ends with its connection.
            try await wait {
                blocker.number(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kvsd migration' "
                        + "AND datname = current_database()") == 0
            }
        }
    }
#endif
