#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer

    extension DatabaseMigration {
        /// Keeps daemons from the database until `markComplete`.
        ///
        /// - Parameter instance: identifies what is copied.
        func markIncomplete(_ instance: Int64) throws(ServerError) {
            try connection.run(Self.insertProgress.with(instance))
        }

        private static let insertProgress = PostgreSQLStatement(
            "", "INSERT INTO ubiquity.migration (instance, is_export) VALUES ($1, false)", [.int64])

        func markComplete() throws(ServerError) { try connection.run("DELETE FROM ubiquity.migration") }

        // MARK: - In a transaction

        /// Replaces devices, accounts and codes.
        func write(_ table: DeviceTable, _ pairings: PairingTable) throws(ServerError) {
            var executions = ["device", "account", "presence", "pairing"].map {
                PostgreSQLExecution("DELETE FROM ubiquity.\($0)")
            }
            executions.append(
                Self.setInstance.with(EpochID(table.instance).map { Int64(bitPattern: $0.rawValue) } ?? 0))
            let known = Dictionary(uniqueKeysWithValues: (table.accounts ?? []).map { ($0.name, $0) })
            let names = Set(table.devices.map(\.account) + known.keys + [Account.defaultName])
            executions += names.sorted().map { name in
                DeviceRows.writing(known[name] ?? Account(name: name, created: 0))
            }
            executions += table.devices.map { DeviceRows.writing($0) }
            executions += pairings.pairings.map { DeviceRows.writing($0) }
            try connection.run(executions)
        }

        private static let setInstance = PostgreSQLStatement(
            "", "UPDATE ubiquity.meta SET instance = $1, devices_version = devices_version + 1", [.int64])

        /// Writes stores that the database does not have, in a transaction, reads them back, and compares them; returns
        /// their checksums.
        func writeAndCompare(_ stores: [StoreContents]) throws(ServerError) -> [[UInt8]] {
            let rows = try transaction { () throws(ServerError) in try write(stores) }
            let found = try read(rows)
            let present = Dictionary(uniqueKeysWithValues: found.map { ($0.store.id, $0) })
            let checksums = stores.map(\.checksum)
            for (store, checksum) in zip(stores, checksums) {
                guard let copy = present[store.id], copy.isIntact, copy.store.checksum == checksum else {
                    throw Self.copyDifference
                }
            }
            return checksums
        }

        /// Returns the keys of their rows.
        private func write(_ stores: [StoreContents]) throws(ServerError) -> [Int64] {
            let rows = try connection.run(StoreRows.writing(stores))
            var ids: [StoreID: Int64] = [:]
            for row in 0..<rows.count {
                let id = StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? "")
                ids[id] = rows.int64(row, 0)
            }
            var batch = RecordBatch()
            for store in stores {
                guard let row = ids[store.id] else { continue }
                for entry in store.hub.entries.values {
                    batch.append(entry, of: row)
                    if batch.isFull { try connection.run(batch.takeExecution()) }
                }
            }
            if !batch.isEmpty { try connection.run(batch.takeExecution()) }
            return Array(ids.values)
        }
    }
#endif
