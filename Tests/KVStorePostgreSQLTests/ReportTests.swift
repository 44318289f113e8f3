#if PostgreSQL
    import Essentials
    import Logging
    import NIOCore
    import ServerTestSupport
    import StoreTestSupport
    import Testing

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    @Suite(
        "The report of a daemon on a database", .timeLimit(.minutes(2)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct ReportTests {
        @Test("while the database is away the report waits for nothing, and says how it failed last")
        func withoutDatabase() async throws {
            let postgres = try TemporaryPostgreSQL()
            let database = Database(try postgres.makeDatabase())
            try database.prepare()
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            var options = DatabaseEngine.Options()
            options.patience = .hours(1)
            let engine = try DatabaseEngine(database, options: options, logger: logger)
            let devices = DatabaseDevices(try DeviceDatabase(database), node: engine.node, logger: logger)
            let server = StoreServer(
                engine: engine, devices: devices, configuration: ServerConfiguration(logger: logger))
            postgres.stop(immediate: true)
            // What connections that were open say first is not why there is none now.
            try await wait { engine.metrics.counters.incident?.text.contains("No such file or directory") == true }
            engine.recordFailure(PostgreSQLError(.disconnected, "the connection was lost"))
            try await wait { engine.metrics.counters.incident?.text.contains("No such file or directory") == true }
            let report = await withCheckedContinuation { continuation in
                server.report(port: 1, started: 0) { continuation.resume(returning: $0) }
            }
            #expect(!report.acceptsWrites && report.database != nil)
            await engine.close()
        }
    }
#endif
