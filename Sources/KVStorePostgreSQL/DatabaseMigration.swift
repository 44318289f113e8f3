#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    package import KVStoreLog
    package import KVStoreServer
    import PostgreSQLClient

    /// Moves all data of a stopped daemon between its log and a database. While it exists, no daemon can start on the database.
    ///
    /// The table `migration` has a row while the data in the database does not count: a copy into it is not complete, or its data
    /// has moved to a directory.
    package final class DatabaseMigration {
        package typealias Progress = (_ storeCount: Int, _ total: Int) -> Void

        let database: Database
        let connection: PostgreSQLConnection
        /// Rows of another one get a new epoch.
        let generation: Int64

        /// - Parameter isCreating: whether the database may lack a schema.
        /// - Throws: `inUse` if daemons run on the database.
        package init(_ database: Database, isCreating: Bool) throws(ServerError) {
            self.database = database
            if !isCreating, try !database.hasSchema {
                throw ServerError(.unreadable, "the database contains no data of a daemon")
            }
            try database.prepare(isMigrating: true)
            do throws(PostgreSQLError) {
                (connection, generation) = try database.connect(as: "migration")
            } catch {
                throw ServerError(error)
            }
            guard !database.isPooled else {
                throw ServerError(
                    .database, "the address is that of a pooler",
                    hint: "name PostgreSQL itself")
            }
            let locks = try connection.run([PostgreSQLExecution(Self.lock)])[0]
            guard locks.bool(0, 0) == true else {
                throw ServerError(
                    .inUse, "another command or daemon prepares the database", hint: "try again")
            }
            let nodes = try database.nodes
            guard nodes.isEmpty else {
                throw ServerError(
                    .inUse, "kvsd runs on the database at \(nodes.joined(separator: ", "))",
                    hint: "stop it; one that was killed counts for half a minute")
            }
        }

        /// Whoever starts on the database waits for it. It ends with the connection.
        private static let lock = PostgreSQLStatement(
            "lock_database", "SELECT pg_try_advisory_lock(\(DatabaseSchema.lock))")

        func transaction<Value>(
            _ body: () throws(ServerError) -> Value
        ) throws(ServerError) -> Value {
            do throws(PostgreSQLError) { try connection.begin(timeout: Database.timeout) } catch {
                throw ServerError(error)
            }
            do throws(ServerError) {
                let value = try body()
                do throws(PostgreSQLError) {
                    try connection.commit(timeout: Database.timeout)
                } catch {
                    throw ServerError(error)
                }
                return value
            } catch {
                try? connection.rollback(timeout: Database.timeout)
                throw error
            }
        }

        // MARK: - From a log

        /// Copies everything into the database, and compares it. Continues a copy that was interrupted. Daemons cannot start on
        /// the database until `finish` has been called.
        ///
        /// - Throws: `cannotCreate` if the database has data of its own.
        package func copy(
            _ stores: [MigratedStore], _ devices: DeviceTable, _ pairings: PairingTable,
            progress: Progress
        ) throws(ServerError) -> MigrationSummary {
            let instance = EpochID(devices.instance).map { Int64(bitPattern: $0.rawValue) } ?? 0
            let last = try transaction { () throws(ServerError) in try begin(instance) }
            var summary = MigrationSummary()
            var expected: [StoreID: [UInt8]] = [:]
            for store in stores {
                let checksum = store.checksum
                expected[store.id] = checksum
                summary.add(store, checksum)
            }
            summary.deviceCount = devices.devices.count
            let rest = stores.drop { store in last.map { store.id <= $0 } ?? false }
            var count = stores.count - rest.count
            for group in rest.groups {
                try transaction { () throws(ServerError) in try write(group) }
                count += group.count
                progress(count, stores.count)
            }
            try transaction { () throws(ServerError) in try write(devices, pairings) }
            // The daemon may have run since a copy was interrupted.
            var found = try compare(expected)
            if !found.different.isEmpty || !found.surplus.isEmpty {
                try transaction { () throws(ServerError) in try remove(found.surplus) }
                for group in stores.filter({ found.different.contains($0.id) })[...].groups {
                    try transaction { () throws(ServerError) in try write(group) }
                }
                found = try compare(expected)
            }
            guard found.summary == summary else {
                throw ServerError(
                    .unreadable, "the copy in the database differs from the log",
                    hint: "nothing has moved; run the command again")
            }
            return summary
        }

        /// Lets daemons start on the database.
        package func finish() throws(ServerError) {
            try connection.run([
                PostgreSQLExecution(PostgreSQLStatement("", "DELETE FROM ubiquity.migration"))
            ])
        }

        /// Which of the expected stores differ or are missing, and which are none of them.
        private func compare(
            _ expected: [StoreID: [UInt8]]
        ) throws(ServerError) -> (
            summary: MigrationSummary, different: Set<StoreID>, surplus: [StoreID]
        ) {
            var summary = MigrationSummary()
            var different = Set(expected.keys)
            var surplus: [StoreID] = []
            try read { store, isIntact throws(ServerError) in
                let checksum = store.checksum
                summary.add(store, checksum)
                guard let known = expected[store.id] else { return surplus.append(store.id) }
                if isIntact, known == checksum { different.remove(store.id) }
            }
            summary.deviceCount = try devices().devices.count
            return (summary, different, surplus)
        }

        // MARK: - To a log

        /// The devices and accounts.
        package func devices() throws(ServerError) -> DeviceTable {
            let storage = try DeviceDatabase(database)
            var table = try storage.table(.all)
            let accounts = (table.accounts ?? []).filter {
                $0 != Account(name: Account.defaultName, created: 0)
            }
            table = DeviceTable(
                instance: storage.instance, devices: table.devices,
                accounts: accounts.isEmpty ? nil : accounts)
            return table
        }

        package func pairings() throws(ServerError) -> PairingTable {
            try DeviceRows.pairings(
                try connection.run([
                    PostgreSQLExecution(
                        PostgreSQLStatement(
                            "", "SELECT document FROM ubiquity.pairing ORDER BY created"))
                ])[0])
        }

        /// Copies all stores into an empty storage and compares them. From then on daemons cannot start on the database.
        package func export(
            to storage: any LogStorage, progress: Progress
        ) throws(ServerError) -> MigrationSummary {
            try checkComplete()
            var summary = MigrationSummary()
            let total = try storeCount()
            let writer = try logged { () throws(LogError) in try LedgerWriter(storage: storage) }
            try read { store, isIntact throws(ServerError) in
                guard isIntact else {
                    throw ServerError(
                        .unreadable,
                        "the store \(store.id.name) of the account \(store.id.account) is damaged")
                }
                summary.add(store, store.checksum)
                progress(summary.storeCount + summary.removedStoreCount, total)
                try logged { () throws(LogError) in
                    try writer.append(store.id, store.hub, isRemoved: store.isRemoved)
                }
            }
            let found = try logged { () throws(LogError) in
                try writer.close()
                return try Ledger.inspect(storage)
            }
            var copied = MigrationSummary()
            for store in found.migratedStores { copied.add(store, store.checksum) }
            guard found.findings.isEmpty, copied == summary else {
                throw ServerError(
                    .unreadable, "the copy in the log differs from the database",
                    hint: "nothing has moved; run the command again")
            }
            summary.deviceCount = try devices().devices.count
            try connection.run([PostgreSQLExecution(Self.markExported)])
            return summary
        }

        private func logged<Value>(
            _ body: () throws(LogError) -> Value
        ) throws(ServerError) -> Value {
            do throws(LogError) { return try body() } catch { throw ServerError(error) }
        }
    }
#endif
