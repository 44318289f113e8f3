#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    package import KVStoreServer

    /// A connection that moves all data between a database and a log, in either direction. One at a time has a
    /// database. Not thread-safe; calls block.
    ///
    /// The table `migration` has a row while the data in the database does not count: a copy into it is not complete,
    /// or its data has moved to a directory.
    package final class DatabaseMigration {
        package typealias Progress = (_ storeCount: Int, _ total: Int) -> Void

        let connection: PostgreSQLConnection
        /// Rows of another one get a new epoch.
        private(set) var generation: Int64

        /// No daemon starts on the database while this exists.
        ///
        /// - Parameter isCopy: whether data moves to the database, which may lack a schema then.
        /// - Throws: `inUse` if daemons run on the database, `database` if data is to move from one into which a copy
        ///   was interrupted.
        package init(_ database: Database, isCopy: Bool) throws(ServerError) {
            if !isCopy, try !database.hasSchema {
                throw ServerError(.unreadable, "the database contains no data of a daemon")
            }
            try database.prepare(isMigrating: true)
            do throws(PostgreSQLError) {
                (connection, generation) = try database.connect(as: "migration", isMigrating: true)
                guard !database.isPooled else {
                    throw PostgreSQLError(.other, "the address is that of a pooler; name PostgreSQL itself")
                }
                try connection.script(Database.planning, timeout: Database.timeout)
            } catch {
                throw ServerError(error)
            }
            try lock(DatabaseSchema.migrationLock)
            if !isCopy { try checkComplete() }
            try lock(DatabaseSchema.lock)
            let nodes = try Database.nodes(connection)
            guard nodes.isEmpty else {
                throw ServerError(
                    .inUse, "kvsd runs on the database at \(nodes.joined(separator: ", "))",
                    hint: "stop it; one that was killed counts for half a minute")
            }
        }

        /// Throws if a copy into the database was interrupted.
        private func checkComplete() throws(ServerError) {
            let rows = try connection.run("SELECT instance FROM ubiquity.migration WHERE NOT is_export")
            guard rows.count > 0 else { return }
            throw ServerError(DatabaseSchema.refusal(isExport: false, instance: rows.int64(0, 0)))
        }

        /// Takes an advisory lock, which ends with the connection.
        private func lock(_ number: Int64) throws(ServerError) {
            // The server may not have noticed yet that a former command was killed.
            let deadline = ContinuousClock.now + .seconds(5)
            while try connection.run("SELECT pg_try_advisory_lock(\(number))").bool(0, 0) != true {
                guard ContinuousClock.now < deadline else {
                    throw ServerError(.inUse, "another command or daemon prepares the database", hint: "try again")
                }
                usleep(50_000)
            }
        }

        /// Settles the generation of a schema that was created after the connection.
        func identifyAgain() throws(ServerError) {
            generation = try connection.run("SELECT ubiquity.identify()").int64(0, 0) ?? 0
        }

        // MARK: - Transactions

        func transaction<Value>(_ body: () throws(ServerError) -> Value) throws(ServerError) -> Value {
            try begin("BEGIN")
            do throws(ServerError) {
                let value = try body()
                try commit()
                return value
            } catch {
                rollback()
                throw error
            }
        }

        func begin(_ statement: String) throws(ServerError) {
            try script(statement, timeout: Database.timeout)
        }

        func script(_ sql: String, timeout: Duration) throws(ServerError) {
            _ = try ServerError.wrapping { () throws(PostgreSQLError) in try connection.script(sql, timeout: timeout) }
        }

        func commit() throws(ServerError) {
            try ServerError.wrapping { () throws(PostgreSQLError) in try connection.commit(timeout: Database.timeout) }
        }

        // The end of the connection rolls back too.
        func rollback() { try? connection.rollback(timeout: Database.timeout) }

        func pairings() throws(ServerError) -> PairingTable {
            try DeviceRows.pairings(try connection.run("SELECT document FROM ubiquity.pairing ORDER BY created"))
        }
    }

    extension DatabaseSchema {
        /// The advisory lock of who moves data.
        static let migrationLock = lock + 2
    }
#endif
