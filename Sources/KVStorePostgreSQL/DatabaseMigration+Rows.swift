#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer
    import PostgreSQLClient

    extension DatabaseMigration {
        /// A store in a list of all.
        struct ListedStore {
            var id: StoreID
            /// The key of its row.
            var row: Int64
            /// Another one after each change.
            var version: Int64
            /// Bytes of its records.
            var byteCount: Int
        }

        /// All stores, sorted by account and name.
        func list() throws(ServerError) -> [ListedStore] {
            let rows = try connection.run(
                [PostgreSQLExecution(Self.listStores)], timeout: .seconds(30))[0]
            return (0..<rows.count).map { row in
                ListedStore(
                    id: StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? ""),
                    row: rows.int64(row, 0) ?? 0, version: rows.int64(row, 3) ?? 0,
                    byteCount: Int(rows.int64(row, 4) ?? 0))
            }
        }

        private static let listStores = PostgreSQLStatement(
            "list_stores",
            "SELECT id, account, name, version, memory FROM ubiquity.store ORDER BY account, name")

        /// A store as its rows are.
        struct FoundStore {
            var store: MigratedStore
            var version: Int64
            /// Whether its row counts what its records are.
            var isIntact: Bool
        }

        /// Reads stores by the keys of their rows, in any order. In a transaction that sees one state of the database, or while
        /// nobody else changes it. One of an earlier generation has its new epoch.
        func read(_ rows: [Int64]) throws(ServerError) -> [FoundStore] {
            var ids = PostgreSQLParameters()
            ids.append(array: rows)
            let found = try connection.run([
                PostgreSQLExecution(Self.selectStores, ids),
                PostgreSQLExecution(Self.selectRecords, ids),
            ])
            let (stores, records) = (found[0], found[1])
            var entries: [Int64: [SequencedRecord]] = [:]
            for row in 0..<records.count {
                let store = records.int64(row, 0) ?? 0
                guard let entry = DatabaseStatements.record(records, row, from: 1) else {
                    throw ServerError(DatabaseStatements.damage(of: store))
                }
                entries[store, default: []].append(entry)
            }
            return try (0..<stores.count).map { row throws(ServerError) in
                try self.store(stores, row, entries[stores.int64(row, 0) ?? 0] ?? [])
            }
        }

        private func store(
            _ rows: PostgreSQLRows, _ row: Int, _ entries: [SequencedRecord]
        ) throws(ServerError) -> FoundStore {
            let decoded = rows.withBytes(row, 7) { $0.flatMap { Hub.State(encoded: $0) } }
            guard var state = decoded else {
                throw ServerError(DatabaseStatements.damage(of: rows.int64(row, 0) ?? 0))
            }
            let isCurrent = rows.int64(row, 8) == Int64(state.sequence)
            if rows.int64(row, 4) != generation {
                state = state.beginning(
                    EpochID(rawValue: .random(in: 1 ... .max)), breakingEarlierEpochs: true)
            }
            var hub = Hub(state)
            for entry in entries { hub.load(entry) }
            hub.load(state)
            let isCounted =
                rows.int64(row, 5) == Int64(hub.keyCount)
                && rows.int64(row, 6) == Int64(Ledger.memoryByteCount(of: hub))
            return FoundStore(
                store: MigratedStore(
                    id: StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? ""),
                    hub: hub, isRemoved: rows.bool(row, 3) ?? false),
                version: rows.int64(row, 9) ?? 0, isIntact: isCurrent && isCounted)
        }

        private static let selectStores = PostgreSQLStatement(
            "select_stores",
            """
            SELECT id, account, name, is_removed, generation, key_count, memory, state, revision,
                version
            FROM ubiquity.store WHERE id = ANY ($1)
            """, [.int64Array])
        private static let selectRecords = PostgreSQLStatement(
            "select_records",
            """
            SELECT store, key, revision, stamp, value FROM ubiquity.record WHERE store = ANY ($1)
            ORDER BY store, revision
            """, [.int64Array])
    }

    extension Array {
        /// Parts of at most 255 elements and about 4 MB, each for one transaction.
        func parts(byteCount: (Element) -> Int) -> [ArraySlice<Element>] {
            var parts: [ArraySlice<Element>] = []
            var (start, total) = (startIndex, 0)
            for index in indices {
                total += byteCount(self[index])
                guard total >= 4 << 20 || index - start >= 254 else { continue }
                parts.append(self[start...index])
                (start, total) = (index + 1, 0)
            }
            if start < endIndex { parts.append(self[start...]) }
            return parts
        }
    }
#endif
