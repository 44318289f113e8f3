#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreLedger
    package import KVStoreServer

    /// All data of a database as it was at one instant, read while daemons go on. It ends with its last reference.
    ///
    /// While it exists, PostgreSQL keeps all versions of rows that it may still read.
    package final class DatabaseSnapshot {
        private let connection: PostgreSQLConnection
        /// Removed stores included.
        package let storeCount: Int

        package init(_ database: Database) throws(ServerError) {
            do throws(PostgreSQLError) {
                connection = try database.connect(as: "snapshot").connection
                // Whoever reads may be slow. Locked before the snapshot begins, the tables are not truncated or
                // renamed.
                try connection.script(
                    """
                    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
                    SET LOCAL idle_in_transaction_session_timeout = 0;
                    SET LOCAL statement_timeout = \(Self.timeout.components.seconds * 1_000);
                    LOCK TABLE ubiquity.migration, ubiquity.device, ubiquity.account, ubiquity.store,
                        ubiquity.record IN ACCESS SHARE MODE
                    """, timeout: Database.timeout)
                try DatabaseSchema.checkMigration(connection)
                let rows = try connection.execute("SELECT count(*) FROM ubiquity.store", timeout: Self.timeout)
                storeCount = Int(rows.int64(0, 0) ?? 0)
            } catch {
                throw ServerError(error)
            }
        }

        /// For a statement, some of which read all rows.
        private static let timeout = Duration.seconds(3_600)

        /// The size of the frames that all stores have in a backup.
        func storeByteCount() throws(ServerError) -> Int {
            let rows = try run(Self.selectStoreByteCount.with())
            return Int(rows.int64(0, 0) ?? 0)
        }

        // The sizes are those of `LedgerEntry.frameByteCount`.
        private static let selectStoreByteCount: PostgreSQLStatement = """
            SELECT (
                SELECT coalesce(sum(
                    (25 + octet_length(account) + octet_length(name) + octet_length(state)) & ~7
                ), 0) FROM ubiquity.store
            )::bigint + (
                SELECT coalesce(sum((
                    56 + octet_length(s.account) + octet_length(s.name) + octet_length(r.key)
                        + coalesce(octet_length(r.value), 0)
                ) & ~7), 0) FROM ubiquity.record r JOIN ubiquity.store s ON s.id = r.store
            )::bigint
            """

        // MARK: - Devices

        /// The devices and accounts.
        package func devices() throws(ServerError) -> DeviceTable {
            try connection.readDevices(timeout: Self.timeout)
        }

        /// What is wrong with devices and accounts, and the names of the accounts.
        package func verifyDevices() throws(ServerError) -> (damage: [DatabaseDamage], accounts: Set<String>) {
            let accounts = DeviceRows.accounts(try run(DeviceRows.accounts(nil, isLocked: false)))
            var damage: [DatabaseDamage] = []
            do throws(ServerError) {
                _ = try DeviceTable(json: try devices().json, path: "the devices", isLimited: false)
            } catch {
                guard connection.isOpen else { throw error }
                damage.append(DatabaseDamage(store: nil, key: nil, detail: error.message))
            }
            return (damage, Set(accounts.map(\.name)))
        }

        private func run(_ execution: PostgreSQLExecution) throws(ServerError) -> PostgreSQLRows {
            try connection.run(execution, timeout: Self.timeout)
        }

        // MARK: - Stores

        /// Calls `body` with what is intact of every store, also of removed ones, and with what is damaged; sorted by
        /// account and name. Has a group of them in memory at a time.
        package func readStores(_ body: (StoreContents, [DatabaseDamage]) throws -> Void) throws {
            var last = StoreID(account: "", name: "")
            while true {
                let rows = try run(Self.selectStores.with(last.account, last.name))
                guard rows.count > 0 else { return }
                var row = 0
                while row < rows.count {
                    let start = row
                    var byteCount: Int64 = 0
                    while row < rows.count, byteCount < 4 << 20 {
                        byteCount += rows.int64(row, 3) ?? 0
                        row += 1
                    }
                    try read(rows, start..<row, body)
                }
                last = StoreID(account: rows.text(row - 1, 1) ?? "", name: rows.text(row - 1, 2) ?? "")
            }
        }

        private static let selectStores = PostgreSQLStatement(
            "snapshot_stores",
            """
            SELECT \(StoreVerification.columns) FROM ubiquity.store WHERE (account, name) > ($1, $2)
            ORDER BY account, name LIMIT 256
            """, [.text, .text])

        private func read(
            _ stores: PostgreSQLRows, _ range: Range<Int>, _ body: (StoreContents, [DatabaseDamage]) throws -> Void
        ) throws {
            let records: PostgreSQLRows
            do throws(PostgreSQLError) {
                records = try self.records(range.lazy.map { stores.int64($0, 0) ?? 0 })
            } catch {
                guard error.isDamage else { throw ServerError(error) }
                guard range.count > 1 else {
                    let found = StoreVerification(stores, range.lowerBound)
                    let (contents, damage) = found.unreadable(error.message)
                    return try body(contents, damage)
                }
                for row in range { try read(stores, row..<row + 1, body) }
                return
            }
            for (store, damage) in StoreVerification.read(stores, range, records) {
                try body(store, damage)
            }
        }

        /// A part of a relation that PostgreSQL cannot read leaves the transaction as it was.
        private func records(_ stores: some Sequence<Int64>) throws(PostgreSQLError) -> PostgreSQLRows {
            let results = connection.pipeline(
                [
                    PostgreSQLExecution("SAVEPOINT part"), StoreVerification.selectRecords.with(array: stores),
                    PostgreSQLExecution("RELEASE SAVEPOINT part"),
                ], timeout: Self.timeout)
            do throws(PostgreSQLError) { return try results[1].get() } catch {
                guard error.isDamage else { throw error }
                try connection.script("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part", timeout: Database.timeout)
                throw error
            }
        }

        /// The records of stores that do not exist. Call it last: nothing can be read after damage.
        package func abandonedRecords() throws(ServerError) -> [DatabaseDamage] {
            let rows: PostgreSQLRows
            do throws(ServerError) { rows = try run(Self.selectAbandoned.with()) } catch {
                guard error.code == .unreadable else { throw error }
                return [DatabaseDamage(store: nil, key: nil, detail: error.message)]
            }
            return (0..<rows.count).map { row in
                let (store, count) = (rows.int64(row, 0) ?? 0, rows.int64(row, 1) ?? 0)
                return DatabaseDamage(store: nil, key: nil, detail: "\(count) records have no store \(store)")
            }
        }

        private static let selectAbandoned: PostgreSQLStatement = """
            SELECT r.store, count(*) FROM ubiquity.record r
            WHERE NOT EXISTS (SELECT FROM ubiquity.store s WHERE s.id = r.store)
            GROUP BY r.store ORDER BY r.store LIMIT 100
            """
    }
#endif
