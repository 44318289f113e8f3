#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    package import KVStoreLog
    package import KVStoreServer

    /// The move of a database to a log: `copy`, and then `commitExport` when the copy is in its place.
    extension DatabaseMigration {
        /// Copies everything into an empty storage. Other users of the database wait from here to `commitExport`.
        ///
        /// Every store is read back from the log, and compared with the database by its checksum.
        package func copy(
            to storage: any LogStorage, progress: Progress
        ) throws(ServerError) -> (devices: DeviceTable, pairings: PairingTable, summary: MigrationSummary) {
            // Each commit of a daemon reads `meta`, and each change of devices `migration`.
            try begin(
                """
                BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; \
                LOCK TABLE ubiquity.meta, ubiquity.migration IN ACCESS EXCLUSIVE MODE
                """)
            let checksums = try copyStores(to: storage, progress)
            let found = try ServerError.wrapping { () throws(LogError) in try Ledger.inspect(storage) }
            var summary = MigrationSummary()
            for store in found.allStores {
                let checksum = store.checksum
                guard checksums[store.id] == checksum else { throw Self.exportDifference }
                summary.add(store, checksum)
            }
            guard found.findings.isEmpty, found.allStores.count == checksums.count else { throw Self.exportDifference }
            let devices = try connection.readDevices()
            summary.deviceCount = devices.devices.count
            return (devices, try pairings(), summary)
        }

        private func copyStores(
            to storage: any LogStorage, _ progress: Progress
        ) throws(ServerError) -> [StoreID: [UInt8]] {
            let writer = try ServerError.wrapping { () throws(LogError) in try LedgerWriter(storage: storage) }
            let stores = try list()
            var checksums: [StoreID: [UInt8]] = [:]
            for part in stores.parts(byteCount: \.byteCount) {
                for found in try read(part.map(\.row)) {
                    guard found.isIntact else {
                        let id = found.store.id
                        throw ServerError(.unreadable, "the store \(id.name) of the account \(id.account) is damaged")
                    }
                    try ServerError.wrapping { () throws(LogError) in try writer.append(found.store) }
                    checksums[found.store.id] = found.store.checksum
                }
                progress(checksums.count, stores.count)
            }
            try ServerError.wrapping { () throws(LogError) in try writer.close() }
            return checksums
        }

        private static let exportDifference = ServerError(
            .unreadable, "the copy in the log differs from the database",
            hint: "nothing has moved; run the command again")

        /// Makes daemons refuse to use the database: whatever they know is of another generation.
        package func commitExport() throws(ServerError) {
            try connection.run(
                """
                INSERT INTO ubiquity.migration (instance, is_export) SELECT instance, true FROM ubiquity.meta
                ON CONFLICT (only_row) DO NOTHING
                """)
            try connection.run("UPDATE ubiquity.meta SET generation = ubiquity.random_number()")
            try commit()
        }
    }
#endif
