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
            try connection.run([Self.insertProgress.with(instance)])
        }

        private static let insertProgress = PostgreSQLStatement(
            "", "INSERT INTO ubiquity.migration (instance, is_export) VALUES ($1, false)", [.int64])

        func markComplete() throws(ServerError) {
            try connection.run([
                PostgreSQLExecution(PostgreSQLStatement("", "DELETE FROM ubiquity.migration"))
            ])
        }

        // MARK: - In a transaction

        /// Replaces devices, accounts and codes.
        func write(_ table: DeviceTable, _ pairings: PairingTable) throws(ServerError) {
            var instance = PostgreSQLParameters()
            instance.append(EpochID(table.instance).map { Int64(bitPattern: $0.rawValue) } ?? 0)
            var executions = ["device", "account", "presence", "pairing"].map {
                PostgreSQLExecution(PostgreSQLStatement("", "DELETE FROM ubiquity.\($0)"))
            }
            executions.append(PostgreSQLExecution(Self.setInstance, instance))
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
            "",
            "UPDATE ubiquity.meta SET instance = $1, devices_version = devices_version + 1",
            [.int64])

        /// Writes what has changed of stores; returns the keys of their rows.
        ///
        /// - Parameter former: the records that the database has of a store.
        @discardableResult
        func write(
            _ stores: [StoreContents],
            over former: (StoreID) -> [StoreKey: SequencedRecord] = { _ in [:] }
        ) throws(ServerError) -> [Int64] {
            let rows = try connection.run([StoreRows.writing(stores)])[0]
            var ids: [StoreID: Int64] = [:]
            for row in 0..<rows.count {
                let id = StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? "")
                ids[id] = rows.int64(row, 0)
            }
            var batch = RecordBatch()
            for store in stores {
                guard let row = ids[store.id] else { continue }
                let former = former(store.id)
                for key in former.keys where store.hub.entries[key] == nil {
                    batch.remove(key, of: row)
                }
                for (key, entry) in store.hub.entries where former[key] != entry {
                    batch.append(entry, of: row)
                    if batch.isFull { try connection.run(batch.takeExecutions()) }
                }
            }
            try connection.run(batch.takeExecutions())
            return Array(ids.values)
        }
    }
#endif
