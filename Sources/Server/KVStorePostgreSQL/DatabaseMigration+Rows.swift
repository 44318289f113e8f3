#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer

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
                "SELECT id, account, name, version, memory FROM ubiquity.store ORDER BY account, name",
                timeout: .seconds(30))
            return (0..<rows.count).map { row in
                ListedStore(
                    id: StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? ""),
                    row: rows.int64(row, 0) ?? 0, version: rows.int64(row, 3) ?? 0,
                    byteCount: Int(rows.int64(row, 4) ?? 0))
            }
        }

        /// A store as its rows are.
        struct ReadStore {
            var store: StoreContents
            var version: Int64
            var isIntact: Bool
        }

        /// Reads stores by the keys of their rows, in any order. In a transaction that sees one state of the database,
        /// or while nobody else changes it. One of an earlier generation has its new epoch.
        func read(_ rows: [Int64]) throws(ServerError) -> [ReadStore] {
            let results = try connection.run([
                Self.selectStores.with(array: rows), StoreVerification.selectRecords.with(array: rows),
            ])
            let stores = results[0]
            let found = StoreVerification.read(stores, 0..<stores.count, results[1])
            return found.enumerated().map { row, found in
                var (store, damage) = found
                if stores.int64(row, StoreVerification.columnCount) != generation {
                    let epoch = EpochID(rawValue: .random(in: 1 ... .max))
                    store.hub.load(store.hub.state.beginning(epoch, breakingEarlierEpochs: true))
                }
                return ReadStore(
                    store: store, version: stores.int64(row, StoreVerification.columnCount + 1) ?? 0,
                    isIntact: damage.isEmpty)
            }
        }

        private static let selectStores = PostgreSQLStatement(
            "select_stores",
            """
            SELECT \(StoreVerification.columns), generation, version
            FROM ubiquity.store WHERE id = ANY ($1)
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
