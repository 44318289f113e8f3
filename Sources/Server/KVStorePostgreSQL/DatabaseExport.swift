#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    package import KVStoreLog
    package import KVStoreServer

    /// The copy of a database in a log, which follows the database until it takes its place. Not thread-safe; calls
    /// block.
    ///
    /// Every store that was written is read back from the log, and compared with the database by its checksum.
    package final class DatabaseExport {
        private let migration: DatabaseMigration
        private var connection: PostgreSQLConnection { migration.connection }
        private let writer: LedgerWriter
        private let follower: LedgerFollower
        private var copied: [StoreID: (version: Int64, checksum: [UInt8])] = [:]
        private var isLocked = false

        /// - Parameter storage: empty.
        package init(
            _ migration: DatabaseMigration, to storage: any LogStorage
        ) throws(ServerError) {
            self.migration = migration
            writer = try ServerError.wrapping { () throws(LogError) in
                try LedgerWriter(storage: storage)
            }
            follower = LedgerFollower(storage)
        }

        /// Copies the stores that have changed since the last call; returns how many.
        @discardableResult
        package func update(
            progress: DatabaseMigration.Progress = { _, _ in }
        ) throws(ServerError) -> Int {
            let stores = try migration.list()
            let changed = stores.filter { copied[$0.id]?.version != $0.version }
            var count = stores.count - changed.count
            for part in changed.parts(byteCount: \.byteCount) {
                try copy(part.map(\.row))
                count += part.count
                progress(count, stores.count)
            }
            return changed.count
        }

        private func copy(_ rows: [Int64]) throws(ServerError) {
            if !isLocked { try migration.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
            let found: [DatabaseMigration.ReadStore]
            do throws(ServerError) { found = try migration.read(rows) } catch {
                if !isLocked { migration.rollback() }
                throw error
            }
            if !isLocked { try migration.commit() }
            for entry in found where !entry.isIntact {
                throw ServerError(
                    .unreadable,
                    "the store \(entry.store.id.name) of the account \(entry.store.id.account) is damaged"
                )
            }
            try ServerError.wrapping { () throws(LogError) in
                for entry in found {
                    try writer.append(entry.store, over: follower.store(entry.store.id)?.hub)
                }
                try writer.flush()
                _ = try follower.readOn()
            }
            for entry in found {
                let checksum = entry.store.checksum
                guard follower.store(entry.store.id)?.checksum == checksum else {
                    throw ServerError(
                        .unreadable, "the copy in the log differs from the database",
                        hint: "nothing has moved; run the command again")
                }
                copied[entry.store.id] = (entry.version, checksum)
            }
        }

        /// Waits for the commits under way, and keeps others waiting until `commit`, after which they fail.
        ///
        /// Each commit reads `meta`, and each change of devices `migration`.
        package func lock() throws(ServerError) {
            for attempt in 0... {
                try migration.begin("BEGIN; SET LOCAL lock_timeout = 1000")
                do throws(ServerError) {
                    try connection.run([PostgreSQLExecution(Self.lockTables)])
                    isLocked = true
                    return
                } catch {
                    migration.rollback()
                    // While it waits, daemons wait behind it: for a backup of the database, say.
                    guard attempt < 10 else { throw error }
                    usleep(1_000_000)
                }
            }
        }

        private static let lockTables = PostgreSQLStatement(
            "", "LOCK TABLE ubiquity.meta, ubiquity.migration IN ACCESS EXCLUSIVE MODE")

        /// Copies what is left; returns the devices, accounts and codes. Call it after `lock`.
        package func complete() throws(ServerError) -> (DeviceTable, PairingTable) {
            try update()
            try ServerError.wrapping { () throws(LogError) in try writer.close() }
            let devices = try connection.readDevices()
            deviceCount = devices.devices.count
            return (devices, try migration.pairings())
        }

        private var deviceCount = 0

        /// Makes daemons refuse to use the database: whatever they know is of another generation.
        package func commit() throws(ServerError) {
            try connection.run([
                PostgreSQLExecution(Self.markExported), PostgreSQLExecution(Self.renewGeneration),
            ])
            try migration.commit()
        }

        private static let markExported = PostgreSQLStatement(
            "",
            """
            INSERT INTO ubiquity.migration (instance, is_export) SELECT instance, true FROM ubiquity.meta
            ON CONFLICT (only_row) DO NOTHING
            """)
        private static let renewGeneration = PostgreSQLStatement(
            "", "UPDATE ubiquity.meta SET generation = ubiquity.random_number()")

        /// What was copied.
        package var summary: MigrationSummary {
            var summary = MigrationSummary()
            for (id, copy) in copied.sorted(by: { $0.key < $1.key }) {
                guard let store = follower.store(id) else { continue }
                summary.add(store, copy.checksum)
            }
            summary.deviceCount = deviceCount
            return summary
        }
    }
#endif
