#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreLedger
    package import KVStoreServer

    /// The move of a log to a database, on which no daemon starts before it has ended. An interrupted one begins again.
    extension DatabaseMigration {
        /// Copies everything, and lets daemons start on the database; returns what it has.
        ///
        /// - Parameter commit: makes the directory refuse to be used.
        /// - Throws: `cannotCreate` if the database has data of its own.
        package func copy(
            _ stores: [StoreContents], _ devices: DeviceTable, _ pairings: PairingTable, progress: Progress,
            commit: () throws(ServerError) -> Void
        ) throws(ServerError) -> MigrationSummary {
            try transaction { () throws(ServerError) in
                try beginCopy(EpochID(devices.instance).map { Int64(bitPattern: $0.rawValue) } ?? 0)
                try write(devices, pairings)
            }
            var (summary, count) = (MigrationSummary(), 0)
            for part in stores.parts(byteCount: { Ledger.memoryByteCount(of: $0.hub) }) {
                for (store, checksum) in zip(part, try writeAndCompare(Array(part))) { summary.add(store, checksum) }
                count += part.count
                progress(count, stores.count)
            }
            summary.deviceCount = devices.devices.count
            let counts = try connection.run(Self.selectCounts)
            guard counts.int64(0, 0) == Int64(stores.count), counts.int64(0, 1) == Int64(summary.keyCount),
                counts.int64(0, 2) == Int64(summary.byteCount), counts.int64(0, 3) == Int64(summary.deviceCount)
            else { throw Self.copyDifference }
            // From here on, only one of the two can be used.
            try commit()
            try markComplete()
            connection.close()
            return summary
        }

        /// Marks the data of the database as incomplete.
        private func beginCopy(_ instance: Int64) throws(ServerError) {
            let rows = try connection.run("SELECT instance FROM ubiquity.migration FOR UPDATE")
            guard rows.count > 0 else {
                let found = try connection.run(
                    "SELECT EXISTS (SELECT FROM ubiquity.store) OR EXISTS (SELECT FROM ubiquity.device)")
                guard found.bool(0, 0) == false else {
                    throw ServerError(
                        .cannotCreate, "the database already has stores or devices",
                        hint: "create another one; nothing was changed")
                }
                return try markIncomplete(instance)
            }
            guard rows.int64(0, 0) == instance else {
                throw ServerError(
                    .cannotCreate, "the database has data of another data directory",
                    hint: "create another database; nothing was changed")
            }
            // What it has is a part, or was copied to the directory, which has gone on since.
            try connection.run("TRUNCATE ubiquity.store, ubiquity.record")
            try connection.run("UPDATE ubiquity.migration SET is_export = false")
        }

        private static let selectCounts: PostgreSQLStatement = """
            SELECT count(*), coalesce(sum(key_count), 0)::bigint,
                coalesce(sum(byte_count), 0)::bigint, (SELECT count(*) FROM ubiquity.device)
            FROM ubiquity.store
            """

        static let copyDifference = ServerError(
            .unreadable, "the copy in the database differs from its source",
            hint: "no daemon starts on it; run the command again")
    }
#endif
