#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreLedger
    package import KVStoreServer

    /// The move of a log to a database. No daemon starts on the database before `perform` has returned. Not thread-safe;
    /// calls block.
    ///
    /// Every store that was written is read back, and compared with the log by its checksum. Nobody else writes to the
    /// database, so that this need not be repeated for what has not changed.
    package final class DatabaseCopy {
        private let migration: DatabaseMigration
        private var connection: PostgreSQLConnection { migration.connection }
        private var copied: [StoreID: Copied] = [:]

        /// What the database has of a store.
        private struct Copied {
            var store: StoreContents
            /// Empty for one that has to be written again.
            var checksum: [UInt8]
        }

        /// Continues with what an interrupted copy has left.
        ///
        /// - Parameter instance: identifies the data directory.
        /// - Throws: `cannotCreate` if the database has data of its own.
        package init(_ migration: DatabaseMigration, instance: String) throws(ServerError) {
            self.migration = migration
            try migration.transaction { () throws(ServerError) in
                try begin(EpochID(instance).map { Int64(bitPattern: $0.rawValue) } ?? 0)
            }
            for part in try migration.list().parts(byteCount: \.byteCount) {
                for found in try migration.read(part.map(\.row)) {
                    copied[found.store.id] = Copied(
                        store: found.store, checksum: found.isIntact ? found.store.checksum : [])
                }
            }
        }

        // MARK: - Progress

        /// Marks the data of the database as incomplete.
        private func begin(_ instance: Int64) throws(ServerError) {
            let rows = try connection.run([PostgreSQLExecution(Self.selectProgress)])[0]
            guard rows.count > 0 else {
                let found = try connection.run([PostgreSQLExecution(Self.selectOwnData)])[0]
                guard found.bool(0, 0) == false else {
                    throw ServerError(
                        .cannotCreate, "the database already has stores or devices",
                        hint: "create another one; nothing was changed")
                }
                return try migration.markIncomplete(instance)
            }
            guard rows.int64(0, 0) == instance else {
                throw ServerError(
                    .cannotCreate, "the database has data of another data directory",
                    hint: "create another database; nothing was changed")
            }
            guard rows.bool(0, 1) == true else { return }
            // What it has was copied to the directory, which has gone on since.
            try connection.run([
                PostgreSQLExecution(PostgreSQLStatement("", "TRUNCATE ubiquity.store, ubiquity.record")),
                PostgreSQLExecution(PostgreSQLStatement("", "UPDATE ubiquity.migration SET is_export = false")),
            ])
        }

        private static let selectProgress = PostgreSQLStatement(
            "", "SELECT instance, is_export FROM ubiquity.migration FOR UPDATE")
        private static let selectOwnData = PostgreSQLStatement(
            "",
            "SELECT EXISTS (SELECT FROM ubiquity.store) OR EXISTS (SELECT FROM ubiquity.device)")

        // MARK: - Copying

        /// Copies everything, removes what is none of it, and lets daemons start on the database; returns what it has.
        ///
        /// - Parameter commit: makes the directory refuse to be used.
        package func perform(
            _ stores: [StoreContents], _ devices: DeviceTable, _ pairings: PairingTable,
            progress: DatabaseMigration.Progress, commit: () throws(ServerError) -> Void
        ) throws(ServerError) -> MigrationSummary {
            let present = Set(stores.map(\.id))
            try remove(copied.keys.filter { !present.contains($0) })
            try update(stores, progress)
            try migration.transaction { () throws(ServerError) in
                try migration.write(devices, pairings)
            }
            let summary = try countEverything(devices.devices.count)
            // From here on, only one of the two can be used.
            try commit()
            try migration.markComplete()
            connection.close()
            return summary
        }

        /// Writes the stores that have changed since the copy that was interrupted.
        private func update(
            _ stores: [StoreContents], _ progress: DatabaseMigration.Progress
        ) throws(ServerError) {
            let changed = stores.map { (store: $0, checksum: $0.checksum) }
                .filter { copied[$0.store.id]?.checksum != $0.checksum }
            var count = stores.count - changed.count
            for part in changed.parts(byteCount: { Ledger.memoryByteCount(of: $0.store.hub) }) {
                let rows = try migration.transaction { () throws(ServerError) in
                    try migration.write(part.map(\.store)) { copied[$0]?.store.hub.entries ?? [:] }
                }
                let expected = Dictionary(uniqueKeysWithValues: part.map { ($0.store.id, $0.checksum) })
                let found = try migration.read(rows)
                let isEqual = found.allSatisfy {
                    $0.isIntact && $0.store.checksum == expected[$0.store.id]
                }
                guard isEqual, found.count == part.count else { throw Self.difference }
                for entry in part {
                    copied[entry.store.id] = Copied(store: entry.store, checksum: entry.checksum)
                }
                count += part.count
                progress(count, stores.count)
            }
        }

        private func remove(_ stores: [StoreID]) throws(ServerError) {
            guard !stores.isEmpty else { return }
            try migration.transaction { () throws(ServerError) in
                var parameters = PostgreSQLParameters()
                parameters.append(array: stores.lazy.map(\.account))
                parameters.append(array: stores.lazy.map(\.name))
                try connection.run([PostgreSQLExecution(Self.deleteStores, parameters)])
            }
            for store in stores { copied[store] = nil }
        }

        /// Throws unless the database counts as much as was copied.
        private func countEverything(_ deviceCount: Int) throws(ServerError) -> MigrationSummary {
            var summary = MigrationSummary()
            for store in copied.values.sorted(by: { $0.store.id < $1.store.id }) {
                summary.add(store.store, store.checksum)
            }
            summary.deviceCount = deviceCount
            let counts = try connection.run([PostgreSQLExecution(Self.selectCounts)])[0]
            guard counts.int64(0, 0) == Int64(summary.storeCount + summary.removedStoreCount),
                counts.int64(0, 1) == Int64(summary.keyCount), counts.int64(0, 2) == Int64(summary.byteCount),
                counts.int64(0, 3) == Int64(deviceCount)
            else { throw Self.difference }
            return summary
        }

        private static let selectCounts = PostgreSQLStatement(
            "",
            """
            SELECT count(*), coalesce(sum(key_count), 0)::bigint,
                coalesce(sum(byte_count), 0)::bigint, (SELECT count(*) FROM ubiquity.device)
            FROM ubiquity.store
            """)

        private static let difference = ServerError(
            .unreadable, "the copy in the database differs from the log",
            hint: "nothing has moved; run the command again")

        private static let deleteStores = PostgreSQLStatement(
            "delete_stores",
            """
            WITH deleted AS (
                DELETE FROM ubiquity.store s USING unnest($1, $2) AS i (account, name)
                WHERE s.account = i.account AND s.name = i.name RETURNING s.id
            )
            DELETE FROM ubiquity.record r USING deleted d WHERE r.store = d.id
            """, [.textArray, .textArray])
    }
#endif
