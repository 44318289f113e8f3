#if PostgreSQL
    import Essentials
    package import KVStoreServer
    import Synchronization

    /// A database that daemons share, and the connection for what is neither a group nor a notification. Safe to call
    /// from any thread; calls block.
    package final class Database: Sendable {
        let address: String
        private let administration = Mutex<PostgreSQLConnection?>(nil)

        /// For a call; the server may need longer for a migration.
        static let timeout = Duration.seconds(10)

        /// - Parameter address: as libpq reads it; `postgres://…`, `service=…`, several hosts.
        package init(_ address: String) { self.address = address }

        /// Whether a pooler gives each transaction another connection to the server: nothing of a session lasts then.
        var isPooled: Bool { pooled.load(ordering: .relaxed) }

        private let pooled = Atomic(false)

        /// Makes the next connections to another host of the address, if another one accepts writes: a primary that no
        /// standby follows any more may have been replaced without knowing it.
        func avoid(_ endpoint: String) { avoided.withLock { $0 = endpoint } }

        private let avoided = Mutex<String?>(nil)

        /// Opens a connection to the server that accepts writes, and settles which generation its data is of.
        ///
        /// - Parameter isMigrating: whether data that does not count, in the middle of a migration, is no error.
        func connect(
            as role: String, isMigrating: Bool = false
        ) throws(PostgreSQLError) -> (connection: PostgreSQLConnection, generation: Int64) {
            let connection = try PostgreSQLConnection(
                address, applicationName: "kvsd \(role)", timeout: Self.timeout,
                usesPreparedStatements: !isPooled, avoiding: avoided.withLock { $0 })
            let rows = try connection.execute(Self.identify, timeout: Self.timeout)
            if !isPooled, rows.int32(0, 1) != connection.backendProcessID {
                pooled.store(true, ordering: .relaxed)
                return try connect(as: role, isMigrating: isMigrating)
            }
            // Not in the same statement: it sees the data as it was before the function has settled its generation, and
            // could take that of a migration for one that counts.
            if !isMigrating { try DatabaseSchema.checkMigration(connection) }
            // It would acknowledge what it has not stored.
            let isWeak = ["off", "local"].contains(rows.text(0, 2))
            if isPooled {
                guard !isWeak else {
                    throw PostgreSQLError(.other, "synchronous_commit is '\(rows.text(0, 2) ?? "")'; set it to 'on'")
                }
            } else {
                try connection.script(
                    (isWeak ? "SET synchronous_commit = on; " : "") + Self.settings, timeout: Self.timeout)
            }
            return (connection, rows.int64(0, 0) ?? 0)
        }

        /// The server ends a session that it does not hear any more.
        private static let settings = """
            SET statement_timeout = 30000; SET idle_in_transaction_session_timeout = 30000; \
            SET lock_timeout = 10000; SET tcp_user_timeout = 10000; SET tcp_keepalives_idle = 10; \
            SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3
            """

        /// For transactions that others may wait for: what they have locked is free 5 seconds after they fell silent.
        static let brief = "SET LOCAL idle_in_transaction_session_timeout = 5000"

        /// Settings for statements that name what they need by its key. Statistics of new tables must not lead to plans
        /// that read whole tables later, and a plan for each execution takes longer to make than to run.
        static let planning = """
            SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; \
            SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan
            """

        // Before it is known whether there is a pooler, which keeps the statements that others have prepared.
        private static let identify: PostgreSQLStatement =
            "SELECT ubiquity.identify(), pg_backend_pid(), current_setting('synchronous_commit')"

        /// Closes the connection of `transaction` until its next call.
        func disconnect() { administration.withLock { $0 = nil } }

        /// Creates or migrates the schema; refuses a newer one. Other daemons go on meanwhile.
        ///
        /// - Parameter isMigrating: whether data that does not count, in the middle of a migration, is no error.
        package func prepare(isMigrating: Bool = false) throws(ServerError) {
            let present = try ServerError.wrapping { () throws(PostgreSQLError) in try migrate(isMigrating) }
            guard present <= DatabaseSchema.version else {
                throw ServerError(
                    .invalidDatabase,
                    "the schema has version \(present), this kvsd knows version \(DatabaseSchema.version)",
                    hint: "update kvsd")
            }
        }

        /// Returns the version of the schema, which stays as it is if it is newer.
        private func migrate(_ isMigrating: Bool) throws(PostgreSQLError) -> Int {
            let connection = try PostgreSQLConnection(address, applicationName: "kvsd schema", timeout: Self.timeout)
            try connection.script(
                """
                BEGIN;
                -- A migration takes longer than what a role may allow to a statement.
                SET LOCAL statement_timeout = 0;
                SET LOCAL lock_timeout = 0;
                SELECT pg_advisory_xact_lock(\(DatabaseSchema.lock));
                -- Also if it exists, CREATE SCHEMA needs a permission that a daemon need not have.
                DO $$ BEGIN
                    IF to_regnamespace('ubiquity') IS NULL THEN CREATE SCHEMA ubiquity; END IF;
                END $$
                """, timeout: .seconds(60))
            let present = try DatabaseSchema.presentVersion(connection)
            if present > DatabaseSchema.version { return present }
            if present < DatabaseSchema.version {
                for migration in DatabaseSchema.migrations[present...] {
                    try connection.script(migration, timeout: .seconds(600))
                }
                try connection.script(DatabaseSchema.recordVersion(after: present), timeout: Self.timeout)
            }
            if !isMigrating { try DatabaseSchema.checkMigration(connection) }
            try connection.commit(timeout: Self.timeout)
            return DatabaseSchema.version
        }

        /// Runs `body` in a transaction, which its error rolls back. A lost connection is opened again, once, if it was
        /// lost before the transaction began; otherwise the outcome is unknown.
        func transaction<Value>(
            _ body: (PostgreSQLConnection) throws(ServerError) -> Value
        ) throws(ServerError) -> Value {
            try administration.withLock { held throws(ServerError) in
                let connection = try ServerError.wrapping { () throws(PostgreSQLError) in try begin(&held) }
                let value: Value
                do throws(ServerError) { value = try body(connection) } catch {
                    do { try connection.rollback(timeout: Self.timeout) } catch { held = nil }
                    throw error
                }
                do throws(PostgreSQLError) { try connection.commit(timeout: Self.timeout) } catch {
                    held = nil
                    throw ServerError(error)
                }
                return value
            }
        }

        /// Begins a transaction on the held connection, or on another one if that was lost.
        private func begin(_ held: inout PostgreSQLConnection?) throws(PostgreSQLError) -> PostgreSQLConnection {
            do throws(PostgreSQLError) {
                guard let held else { throw PostgreSQLError(.disconnected, "") }
                try held.begin(Self.brief, timeout: Self.timeout)
                return held
            } catch {
                held = nil
                let connection = try connect(as: "administration").connection
                try connection.begin(Self.brief, timeout: Self.timeout)
                held = connection
                return connection
            }
        }
    }

    extension DatabaseSchema {
        /// The advisory lock that migrations take.
        static let lock: Int64 = 0x7562_6971_7569_7479

        /// 0 without any.
        static func presentVersion(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int {
            let exists = try connection.execute(
                "SELECT to_regclass('ubiquity.meta') IS NOT NULL", timeout: Database.timeout)
            guard exists.bool(0, 0) == true else { return 0 }
            let version = try connection.execute("SELECT schema_version FROM ubiquity.meta", timeout: Database.timeout)
            return Int(version.int32(0, 0) ?? 0)
        }

        /// Throws while the data does not count.
        static func checkMigration(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
            let rows = try connection.execute(
                "SELECT is_export, instance FROM ubiquity.migration", timeout: Database.timeout)
            guard rows.count > 0 else { return }
            throw refusal(isExport: rows.bool(0, 0) == true, instance: rows.int64(0, 1))
        }

        /// - Parameter instance: of the row in `migration`.
        static func refusal(isExport: Bool, instance: Int64?) -> PostgreSQLError {
            let reason =
                isExport
                ? "its data has moved to a data directory; 'kvsd migrate --to' moves it back"
                : instance == DatabaseRestore.instance
                    ? "a restore into it was interrupted; run 'kvsd restore FILE' again"
                    : "a migration into it was interrupted; run 'kvsd migrate --to' again"
            return PostgreSQLError(.other, sqlState: isExport ? movedState : nil, reason)
        }

        /// As the server's codes; no server reports it.
        static let movedState = "UB010"

        static func recordVersion(after former: Int) -> String {
            former == 0
                ? """
                INSERT INTO ubiquity.meta (schema_version, instance, generation)
                VALUES (\(version), ubiquity.random_number(), ubiquity.random_number())
                """ : "UPDATE ubiquity.meta SET schema_version = \(version)"
        }
    }

    extension ServerError {
        /// Runs `body` and rethrows its error.
        static func wrapping<Result>(_ body: () throws(PostgreSQLError) -> Result) throws(ServerError) -> Result {
            do throws(PostgreSQLError) { return try body() } catch { throw ServerError(error) }
        }

        init(_ error: PostgreSQLError) {
            let hint: String? =
                switch error.kind {
                case .cannotConnect where error.sqlState == "53300":
                    "raise the user's limit or max_connections: a node uses 'database-connections' and 4, a command 1"
                case .timeout:
                    "check that PostgreSQL is running, and that a standby follows if 'synchronous_standby_names' is set"
                case .cannotConnect, .disconnected:
                    "check that PostgreSQL is running and accepts connections from here"
                case .cannotEncrypt:
                    "the server needs TLS and a certificate for this host, from an authority in the file that "
                        + "sslrootcert names; in a trusted network, sslmode can ask for less"
                case .authentication:
                    "check the user, the password file or client certificate, and pg_hba.conf"
                case .diskFull: "free space on the disk of the database"
                case .readOnly:
                    "connect to the primary server, and look for 'default_transaction_read_only' of the user"
                case .undefined: "check that the user may use the schema 'ubiquity'"
                case .invalidAddress:
                    "write it as postgres://USER@HOST/DATABASE, and the password to a password file or with %2F for /"
                case .other where error.sqlState == "42501":
                    "grant the user what it lacks, as CREATE on the database, or use its owner"
                case .other where error.isDamage:
                    "a disk or memory may be at fault; see PostgreSQL's log and pg_amcheck"
                default: nil
                }
            let code: Code =
                switch error.kind {
                case .invalidAddress: .invalidDatabase
                case .other where error.isDamage: .unreadable
                case .other where error.sqlState == DatabaseSchema.movedState: .databaseMoved
                default: .database
                }
            let prefix = error.kind == .invalidAddress ? "" : "the database failed: "
            self.init(code, prefix + error.message, hint: hint)
        }
    }

    extension PostgreSQLError {
        /// Whether the server found its own data damaged.
        var isDamage: Bool { sqlState?.hasPrefix("XX") == true }
    }
#endif
