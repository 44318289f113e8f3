#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer
    import PostgreSQLClient

    extension DatabaseMigration {
        // MARK: - Progress

        /// Marks the data of the database as incomplete; returns the last store that an interrupted copy has written.
        func begin(_ instance: Int64) throws(ServerError) -> StoreID? {
            let rows = try connection.run([PostgreSQLExecution(Self.selectProgress)])[0]
            var parameters = PostgreSQLParameters()
            parameters.append(instance)
            guard rows.count > 0 else {
                let found = try connection.run([PostgreSQLExecution(Self.selectOwnData)])[0]
                guard found.bool(0, 0) == false else {
                    throw ServerError(
                        .cannotCreate, "the database already has stores or devices",
                        hint: "create another one; nothing was changed")
                }
                try connection.run([PostgreSQLExecution(Self.insertProgress, parameters)])
                return nil
            }
            guard rows.int64(0, 0) == instance else {
                throw ServerError(
                    .cannotCreate, "the database has data of another data directory",
                    hint: "create another database; nothing was changed")
            }
            if rows.bool(0, 1) == true {
                // What it has was copied to the directory, which has gone on since.
                try connection.run([
                    PostgreSQLExecution(
                        PostgreSQLStatement("", "TRUNCATE ubiquity.store, ubiquity.record")),
                    PostgreSQLExecution(
                        PostgreSQLStatement("", "UPDATE ubiquity.migration SET is_export = false")),
                ])
                return nil
            }
            guard let account = rows.text(0, 2), let store = rows.text(0, 3) else { return nil }
            return StoreID(account: account, name: store)
        }

        private static let selectProgress = PostgreSQLStatement(
            "", "SELECT instance, is_export, account, store FROM ubiquity.migration FOR UPDATE")
        private static let selectOwnData = PostgreSQLStatement(
            "",
            "SELECT EXISTS (SELECT FROM ubiquity.store) OR EXISTS (SELECT FROM ubiquity.device)")
        private static let insertProgress = PostgreSQLStatement(
            "", "INSERT INTO ubiquity.migration (instance, is_export) VALUES ($1, false)", [.int64])
        static let markExported = PostgreSQLStatement(
            "",
            """
            INSERT INTO ubiquity.migration (instance, is_export) SELECT instance, true FROM ubiquity.meta
            ON CONFLICT (only_row) DO NOTHING
            """)

        // MARK: - Writing

        /// Replaces devices, accounts and codes.
        func write(_ table: DeviceTable, _ pairings: PairingTable) throws(ServerError) {
            var instance = PostgreSQLParameters()
            instance.append(EpochID(table.instance).map { Int64(bitPattern: $0.rawValue) } ?? 0)
            var executions = ["device", "account", "presence", "pairing"].map {
                PostgreSQLExecution(PostgreSQLStatement("", "DELETE FROM ubiquity.\($0)"))
            }
            executions.append(PostgreSQLExecution(Self.setInstance, instance))
            let known = Dictionary(
                uniqueKeysWithValues: (table.accounts ?? []).map { ($0.name, $0) })
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

        /// Replaces stores, and notes the last one.
        func write(_ stores: ArraySlice<MigratedStore>) throws(ServerError) {
            guard let last = stores.last else { return }
            try remove(stores.map(\.id))
            let rows = try connection.run([Self.inserting(stores)])[0]
            var ids: [StoreID: Int64] = [:]
            for row in 0..<rows.count {
                let id = StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? "")
                ids[id] = rows.int64(row, 0)
            }
            var records = RecordBatch()
            for store in stores {
                guard let row = ids[store.id] else { continue }
                for entry in store.hub.entries.values.sorted(by: { $0.sequence < $1.sequence }) {
                    records.append(entry, of: row)
                    if records.isFull { try write(&records) }
                }
            }
            try write(&records)
            var progress = PostgreSQLParameters()
            progress.append(last.id.account)
            progress.append(last.id.name)
            try connection.run([PostgreSQLExecution(Self.noteProgress, progress)])
        }

        func remove(_ stores: [StoreID]) throws(ServerError) {
            var parameters = PostgreSQLParameters()
            parameters.append(array: stores.lazy.map(\.account))
            parameters.append(array: stores.lazy.map(\.name))
            try connection.run([PostgreSQLExecution(Self.deleteStores, parameters)])
        }

        private static let deleteStores = PostgreSQLStatement(
            "delete_stores",
            """
            WITH deleted AS (
                DELETE FROM ubiquity.store s USING unnest($1, $2) AS i (account, name)
                WHERE s.account = i.account AND s.name = i.name RETURNING s.id
            )
            DELETE FROM ubiquity.record r USING deleted d WHERE r.store = d.id
            """, [.textArray, .textArray])
        private static let noteProgress = PostgreSQLStatement(
            "note_progress",
            """
            UPDATE ubiquity.migration SET (account, store) = ($1, $2)
            WHERE account IS NULL OR (account, store) < ($1, $2)
            """, [.text, .text])

        private static let insertStores = PostgreSQLStatement(
            "insert_stores",
            """
            INSERT INTO ubiquity.store (
                account, name, version, revision, horizon, generation, is_removed, key_count,
                byte_count, memory, state
            ) SELECT i.account, i.name, 1, i.revision, i.horizon, m.generation, i.is_removed,
                i.key_count, i.byte_count, i.memory, i.state
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) AS i (
                account, name, revision, horizon, is_removed, key_count, byte_count, memory, state
            ) CROSS JOIN ubiquity.meta m RETURNING id, account, name
            """,
            [
                .textArray, .textArray, .int64Array, .int64Array, .boolArray, .int32Array,
                .int64Array, .int64Array, .bytesArray,
            ])

        private static func inserting(
            _ stores: ArraySlice<MigratedStore>
        ) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters(byteCapacity: 256 * stores.count)
            parameters.append(array: stores.lazy.map(\.id.account))
            parameters.append(array: stores.lazy.map(\.id.name))
            parameters.append(array: stores.lazy.map { Int64($0.hub.sequence) })
            parameters.append(array: stores.lazy.map { Int64($0.hub.horizon) })
            parameters.append(array: stores.lazy.map(\.isRemoved))
            parameters.append(array: stores.lazy.map { Int32($0.hub.keyCount) })
            parameters.append(array: stores.lazy.map { Int64($0.hub.byteCount) })
            parameters.append(
                array: stores.lazy.map { Int64(Ledger.memoryByteCount(of: $0.hub)) })
            parameters.append(array: stores.lazy.map(\.hub.state.encoded))
            return PostgreSQLExecution(insertStores, parameters)
        }

        private func write(_ records: inout RecordBatch) throws(ServerError) {
            guard !records.isEmpty else { return }
            try connection.run([records.execution])
            records = RecordBatch()
        }

        // MARK: - Reading

        func storeCount() throws(ServerError) -> Int {
            let rows = try connection.run([
                PostgreSQLExecution(
                    PostgreSQLStatement("", "SELECT count(*) FROM ubiquity.store"))
            ])[0]
            return Int(rows.int64(0, 0) ?? 0)
        }

        /// Calls `body` with every store, sorted by account and name, and whether its row counts what its records are. One of an
        /// earlier generation has its new epoch.
        func read(
            _ body: (_ store: MigratedStore, _ isIntact: Bool) throws(ServerError) -> Void
        ) throws(ServerError) {
            let rows = try connection.run([PostgreSQLExecution(Self.selectStores)])[0]
            var row = 0
            while row < rows.count {
                let start = row
                var byteCount: Int64 = 0
                while row < rows.count, row - start < 256, byteCount < 4 << 20 {
                    byteCount += rows.int64(row, 6) ?? 0
                    row += 1
                }
                try read(rows, start..<row, body)
            }
        }

        private static let selectStores = PostgreSQLStatement(
            "select_stores",
            """
            SELECT id, account, name, is_removed, generation, key_count, memory, state, revision
            FROM ubiquity.store ORDER BY account, name
            """)
        private static let selectRecords = PostgreSQLStatement(
            "select_records",
            """
            SELECT store, key, revision, stamp, value FROM ubiquity.record WHERE store = ANY ($1)
            ORDER BY store, revision
            """, [.int64Array])

        private func read(
            _ stores: PostgreSQLRows, _ range: Range<Int>,
            _ body: (_ store: MigratedStore, _ isIntact: Bool) throws(ServerError) -> Void
        ) throws(ServerError) {
            var ids = PostgreSQLParameters()
            ids.append(array: range.lazy.map { stores.int64($0, 0) ?? 0 })
            let records = try connection.run([PostgreSQLExecution(Self.selectRecords, ids)])[0]
            var entries: [Int64: [SequencedRecord]] = [:]
            for row in 0..<records.count {
                let store = records.int64(row, 0) ?? 0
                guard let entry = DatabaseStatements.record(records, row, from: 1) else {
                    throw ServerError(DatabaseStatements.damage(of: store))
                }
                entries[store, default: []].append(entry)
            }
            for row in range {
                let id = stores.int64(row, 0) ?? 0
                let decoded = stores.withBytes(row, 7) { $0.flatMap { Hub.State(encoded: $0) } }
                guard var state = decoded else {
                    throw ServerError(DatabaseStatements.damage(of: id))
                }
                let isIntact = stores.int64(row, 8) == Int64(state.sequence)
                if stores.int64(row, 4) != generation {
                    state = state.beginning(
                        EpochID(rawValue: .random(in: 1 ... .max)), breakingEarlierEpochs: true)
                }
                var hub = Hub(state)
                for entry in entries[id] ?? [] { hub.load(entry) }
                hub.load(state)
                hub.finishLoading()
                let store = MigratedStore(
                    id: StoreID(
                        account: stores.text(row, 1) ?? "", name: stores.text(row, 2) ?? ""),
                    hub: hub, isRemoved: stores.bool(row, 3) ?? false)
                let isCounted =
                    stores.int64(row, 5) == Int64(hub.keyCount)
                    && stores.int64(row, 6) == Int64(Ledger.memoryByteCount(of: hub))
                try body(store, isIntact && isCounted)
            }
        }
    }

    /// Records for one statement.
    private struct RecordBatch {
        private var records: [(store: Int64, entry: SequencedRecord)] = []
        private var byteCount = 0

        var isEmpty: Bool { records.isEmpty }
        var isFull: Bool { records.count >= 1_000 || byteCount >= 1 << 20 }

        mutating func append(_ entry: SequencedRecord, of store: Int64) {
            records.append((store, entry))
            byteCount += 128 + entry.record.content.byteCount
        }

        var execution: PostgreSQLExecution {
            var parameters = PostgreSQLParameters(byteCapacity: byteCount)
            parameters.append(array: records.lazy.map(\.store))
            parameters.append(array: records.lazy.map { Array($0.entry.record.key.text.utf8) })
            parameters.append(array: records.lazy.map { Int64($0.entry.sequence) })
            parameters.append(
                array: records.lazy.map { record in
                    var bytes: [UInt8] = []
                    bytes.append(record.entry.record.stamp)
                    return bytes
                })
            parameters.append(
                array: records.lazy.map { record -> Data? in
                    if case .value(let data) = record.entry.record.content { data } else { nil }
                })
            return PostgreSQLExecution(Self.insertRecords, parameters)
        }

        private static let insertRecords = PostgreSQLStatement(
            "insert_records",
            """
            INSERT INTO ubiquity.record (store, key, revision, stamp, value)
            SELECT * FROM unnest($1, $2, $3, $4, $5)
            """, [.int64Array, .bytesArray, .int64Array, .bytesArray, .bytesArray])
    }

    extension ArraySlice where Element == MigratedStore {
        /// Each for one transaction.
        var groups: [ArraySlice] {
            var groups: [ArraySlice] = []
            var (start, byteCount) = (startIndex, 0)
            for index in indices {
                byteCount += Ledger.memoryByteCount(of: self[index].hub)
                guard byteCount >= 4 << 20 || index - start >= 255 else { continue }
                groups.append(self[start...index])
                (start, byteCount) = (index + 1, 0)
            }
            if start < endIndex { groups.append(self[start...]) }
            return groups
        }
    }
#endif
