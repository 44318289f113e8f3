#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreLedger
    import KVStoreLog
    package import KVStoreServer

    /// A restore of a verified backup into a database. While it exists, no daemon can start on the database.
    ///
    /// What is replaced stays in the database, in a schema of another name. From the first change on, the table
    /// `migration` has a row, so that no daemon starts on a part; the next restore begins again.
    package final class DatabaseRestore {
        /// What restoring replaces.
        package struct Present: Sendable, Equatable {
            package var storeCount = 0
            package var keyCount = 0
        }

        private let backup: LedgerBackup
        private let migration: DatabaseMigration
        private let devices: DeviceTable
        /// Nil if there is nothing to replace.
        package let present: Present?
        package let deviceChange: DeviceListChange

        /// Identifies a restore in the table `migration`, where a move has the instance of a directory.
        static let instance: Int64 = 0

        /// Creates the schema if the database has none. Changes nothing else.
        ///
        /// - Parameter keepsDevices: whether the present devices and accounts stay.
        /// - Throws: `inUse` if daemons run on the database.
        package init(_ backup: LedgerBackup, into database: Database, keepsDevices: Bool = false) throws(ServerError) {
            self.backup = backup
            migration = try DatabaseMigration(database, isCopy: true)
            let found = try migration.connection.readDevices()
            let restored = keepsDevices ? nil : try backup.deviceTable
            if keepsDevices, found.devices.isEmpty {
                throw ServerError(.storage, "the database has no devices to keep", hint: "leave out --keep-devices")
            }
            devices = restored ?? found
            deviceChange = DeviceListChange(from: found, to: restored)
            let rows = try migration.connection.run(Self.selectPresent)
            let counts = Present(storeCount: Int(rows.int64(0, 0) ?? 0), keyCount: Int(rows.int64(0, 1) ?? 0))
            let isEmpty = rows.bool(0, 3) == false && found.devices.isEmpty && rows.isNull(0, 2)
            let isInterrupted = rows.int64(0, 2) == Self.instance
            present = isEmpty || isInterrupted ? nil : counts
        }

        private static let selectPresent: PostgreSQLStatement = """
            SELECT count(*) FILTER (WHERE NOT is_removed), coalesce(sum(key_count), 0)::bigint,
                (SELECT instance FROM ubiquity.migration), count(*) > 0
            FROM ubiquity.store
            """

        /// Replaces all data by that of the backup; returns the schema that has what was replaced, nil if there was
        /// nothing.
        package func perform(progress: DatabaseMigration.Progress) throws(ServerError) -> String? {
            let former = try migration.transaction { () throws(ServerError) in try begin() }
            try copy(progress)
            try verify()
            try migration.markComplete()
            return former
        }

        // MARK: - Preparing

        private func begin() throws(ServerError) -> String? {
            let pairings = try migration.pairings()
            let former = present == nil ? nil : try setAside()
            try script("TRUNCATE ubiquity.store, ubiquity.record; DELETE FROM ubiquity.migration")
            try migration.markIncomplete(Self.instance)
            try migration.write(devices, pairings)
            return former
        }

        /// Gives the schema another name, and creates it again.
        private func setAside() throws(ServerError) -> String {
            let rows = try migration.connection.run(
                "SELECT 'ubiquity_before_restore_' || to_char(clock_timestamp(), 'YYYYMMDDHH24MISSUS')")
            let name = rows.text(0, 0) ?? ""
            // Commands that read finish what they read before.
            try script("LOCK TABLE ubiquity.store, ubiquity.record IN ACCESS EXCLUSIVE MODE")
            try script("ALTER SCHEMA ubiquity RENAME TO \(name); CREATE SCHEMA ubiquity")
            for statement in DatabaseSchema.migrations { try script(statement) }
            try script(DatabaseSchema.recordVersion(after: 0))
            try migration.identifyAgain()
            return name
        }

        private func script(_ sql: String) throws(ServerError) { try migration.script(sql, timeout: .seconds(600)) }

        // MARK: - Copying

        private func copy(_ progress: DatabaseMigration.Progress) throws(ServerError) {
            let reader = try ServerError.wrapping { () throws(LogError) in
                try BackupReader(backup)
            }
            var group: [StoreContents] = []
            var (byteCount, count) = (0, 0)
            while let store = try next(reader) {
                group.append(store)
                byteCount += Ledger.memoryByteCount(of: store.hub)
                if !store.isRemoved { count += 1 }
                guard byteCount >= 4 << 20 || group.count == 255 else { continue }
                _ = try migration.writeAndCompare(group)
                progress(count, backup.summary.storeCount)
                (group, byteCount) = ([], 0)
            }
            guard !group.isEmpty else { return }
            _ = try migration.writeAndCompare(group)
            progress(count, backup.summary.storeCount)
        }

        /// The next store, with a new epoch: replicas start over, and send what the backup lacks.
        private func next(_ reader: BackupReader) throws(ServerError) -> StoreContents? {
            let found = try ServerError.wrapping { () throws(LogError) in try reader.next() }
            guard var store = found else { return nil }
            let epoch = EpochID(rawValue: .random(in: 1 ... .max))
            store.hub.load(store.hub.state.beginning(epoch, breakingEarlierEpochs: true))
            return store
        }

        /// Throws unless the database has as much as the backup.
        private func verify() throws(ServerError) {
            let rows = try migration.connection.run(Self.selectPresent)
            guard rows.int64(0, 0) == Int64(backup.summary.storeCount),
                rows.int64(0, 1) == Int64(backup.summary.keyCount)
            else {
                throw ServerError(
                    .unreadable, "the copy in the database differs from the backup",
                    hint: "no daemon starts on it; run the command again")
            }
        }
    }
#endif
