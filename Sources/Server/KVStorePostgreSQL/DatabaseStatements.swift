#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger

    /// What the engine sends, and how it reads the answers.
    enum DatabaseStatements {
        /// Stores that a daemon may have per account, unless the account has a limit of its own.
        static let storesPerAccount: Int32 = 1_024

        // MARK: - Loading

        /// The rows of stores, and the records that are newer than what is known of them; all records where the horizon
        /// or the generation is another.
        private static let load = PostgreSQLStatement(
            "load",
            """
            SELECT i.ordinal, m.generation, m.is_current, a.byte_limit,
                a.name IS NOT NULL AND a.removed IS NULL AS has_account, s.id, s.version, s.generation, s.is_removed, s.memory, s.state,
                r.key, r.revision, r.stamp, r.value
            FROM unnest($1, $2, $3, $4, $5, $6) WITH ORDINALITY
                AS i (account, name, version, revision, horizon, generation, ordinal)
            CROSS JOIN (
                SELECT generation, timeline = ubiquity.timeline() AS is_current
                FROM ubiquity.meta OFFSET 0
            ) m
            LEFT JOIN ubiquity.account a ON a.name = i.account
            LEFT JOIN ubiquity.store s ON s.account = i.account AND s.name = i.name
            LEFT JOIN ubiquity.record r ON r.store = s.id AND s.version <> i.version
                AND r.revision > CASE
                    WHEN s.horizon = i.horizon AND s.generation = i.generation THEN i.revision
                    ELSE -1 END
            """, [.textArray, .textArray, .int64Array, .int64Array, .int64Array, .int64Array])

        static func loading(_ stores: [CachedStore]) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters(byteCapacity: 64 * stores.count + 120)
            parameters.append(array: stores.lazy.map(\.id.account))
            parameters.append(array: stores.lazy.map(\.id.name))
            parameters.append(array: stores.lazy.map { $0.row?.version ?? -1 })
            parameters.append(array: stores.lazy.map { Int64($0.row?.hub.sequence ?? 0) })
            parameters.append(array: stores.lazy.map { $0.row.map { Int64($0.hub.horizon) } ?? -1 })
            parameters.append(array: stores.lazy.map { $0.row?.generation ?? -1 })
            return PostgreSQLExecution(load, parameters)
        }

        /// What was found of the stores that were asked for, in their order.
        struct Loaded {
            /// Nil for a store that the database has not.
            var stores: [StoreRow?] = []
            /// Nil if the server is not the one whose generation is known.
            var generation: Int64?
        }

        static func loaded(_ rows: PostgreSQLRows, _ stores: [CachedStore]) throws(PostgreSQLError) -> Loaded {
            var result = Loaded()
            result.generation = rows.bool(0, 2) == true ? rows.int64(0, 1) : nil
            // Sorted here, as a server that sorts much needs space on its disk.
            var found = [[(row: Int, revision: Int64)]](repeating: [], count: stores.count)
            for row in 0..<rows.count {
                guard let ordinal = rows.int64(row, 0), stores.indices ~= Int(ordinal) - 1 else { continue }
                found[Int(ordinal) - 1].append((row, rows.int64(row, 12) ?? 0))
            }
            for (store, entries) in zip(stores, found) {
                let sorted = entries.sorted { $0.revision < $1.revision }.map(\.row)
                result.stores.append(try storeRow(rows, sorted, store.row))
            }
            return result
        }

        private static func storeRow(
            _ rows: PostgreSQLRows, _ range: [Int], _ known: StoreRow?
        ) throws(PostgreSQLError) -> StoreRow? {
            guard let first = range.first, let id = rows.int64(first, 5),
                let version = rows.int64(first, 6), let generation = rows.int64(first, 7)
            else { return nil }
            if let known, known.id == id, known.version == version, known.generation == generation {
                return known
            }
            let state = rows.withBytes(first, 10) { $0.flatMap { Hub.State(encoded: $0) } }
            guard let state else { throw damage(of: id) }
            let isExtension =
                known.map {
                    $0.id == id && $0.hub.horizon == state.horizon && $0.generation == generation
                }
                ?? false
            var row = StoreRow(
                id: id, version: version, generation: generation, hasAccount: rows.bool(first, 4) ?? false,
                isLimited: !rows.isNull(first, 3), isRemoved: rows.bool(first, 8) ?? false,
                memory: rows.int64(first, 9) ?? 0, hub: isExtension ? known?.hub ?? Hub(state) : Hub(state))
            for index in range where !rows.isNull(index, 11) {
                guard let entry = record(rows, index, from: 11) else { throw damage(of: id) }
                row.hub.load(entry)
            }
            row.hub.load(state)
            row.hub.finishLoading()
            return row
        }

        /// - Parameter column: of the key, before revision, stamp and value.
        static func record(_ rows: PostgreSQLRows, _ row: Int, from column: Int) -> SequencedRecord? {
            let key = rows.withBytes(row, column) { bytes in
                bytes.flatMap { $0.key(0..<$0.count) }
            }
            let stamp = rows.withBytes(row, column + 2) { bytes in
                bytes.flatMap { $0.count == 20 ? $0.stamp(at: 0) : nil }
            }
            guard let key, let stamp, let revision = rows.int64(row, column + 1) else { return nil }
            let content = rows.withBytes(row, column + 3) { bytes -> StoreRecord.Content in
                bytes.map { .value(Data($0)) } ?? .tombstone
            }
            return SequencedRecord(
                record: StoreRecord(key: key, stamp: stamp, content: content), sequence: UInt64(revision))
        }

        static func damage(of store: Int64) -> PostgreSQLError {
            PostgreSQLError(.other, "the row of store \(store) or one of its records is damaged")
        }

        // MARK: - Creating

        private static let create = PostgreSQLStatement(
            "create", "SELECT outcome, store_limit FROM ubiquity.create_stores($1, $2, $3, $4)",
            [.textArray, .textArray, .bytesArray, .int32])

        /// - Parameter stores: sorted.
        static func creating(_ stores: [StoreID], newEpoch: () -> EpochID) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters()
            parameters.append(array: stores.lazy.map(\.account))
            parameters.append(array: stores.lazy.map(\.name))
            parameters.append(
                array: stores.map { _ in
                    Hub.State(epochs: [Hub.Epoch(id: newEpoch(), start: 0)]).encoded
                })
            parameters.append(storesPerAccount)
            return PostgreSQLExecution(create, parameters)
        }

        // MARK: - Committing

        private static let commit = PostgreSQLStatement(
            "commit",
            """
            SELECT ordinal, outcome, room, bound FROM ubiquity.change_stores($1, $2, $3, $4, $5, $6, $7, $8, \
            $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
            """,
            [
                .int64, .int32, .bool, .int64, .int64, .int32, .int64,
                .textArray, .int32Array, .int64Array, .boolArray,
                .int64Array, .int64Array, .int64Array, .int64Array, .boolArray, .int32Array,
                .int64Array, .int64Array, .bytesArray,
                .int64Array, .bytesArray, .int64Array, .bytesArray, .bytesArray,
                .int64Array, .bytesArray,
            ])

        /// - Parameters:
        ///   - commits: of stores with rows, sorted by the ids of those.
        ///   - waits: whether for stores and accounts that are locked.
        static func committing(
            _ commits: [(store: CachedStore, plan: StorePlan)], generation: Int64,
            answer: AnswerPlace, waits: Bool = true
        ) -> PostgreSQLExecution {
            let stores = commits.map { (row: $0.store.row!, plan: $0.plan) }
            let states = stores.map(\.plan.committedState)
            let records = stores.flatMap { store in
                store.plan.records.map { (store: store.row.id, entry: $0) }
            }
            let forgotten = stores.flatMap { store in
                store.plan.forgotten.map { (store: store.row.id, key: $0) }
            }
            var parameters = PostgreSQLParameters(
                byteCapacity: records.reduce(1_024 + 256 * stores.count) {
                    $0 + 128 + $1.entry.record.content.byteCount
                })
            parameters.append(generation)
            parameters.append(storesPerAccount)
            parameters.append(waits)
            parameters.append(answer)
            let accounts = Set(
                commits.filter { $0.plan.needsLimit || $0.plan.isRevival }.map(\.store.id.account)
            ).sorted()
            let owners = Dictionary(uniqueKeysWithValues: zip(accounts, Int32(1)...))
            parameters.append(array: accounts)
            parameters.append(array: commits.lazy.map { owners[$0.store.id.account] ?? 0 })
            parameters.append(array: stores.lazy.map { Int64($0.plan.memoryGrowth) })
            parameters.append(array: stores.lazy.map(\.plan.isRevival))
            parameters.append(array: stores.lazy.map(\.row.id))
            parameters.append(array: stores.lazy.map(\.row.version))
            parameters.append(array: states.lazy.map { Int64($0.sequence) })
            parameters.append(array: states.lazy.map { Int64($0.horizon) })
            parameters.append(
                array: stores.lazy.map {
                    $0.plan.isRemoval || $0.row.isRemoved && !$0.plan.isRevival
                })
            parameters.append(
                array: stores.lazy.map { store in
                    store.plan.isRemoval
                        ? 0 : Int32(store.row.hub.keyCount + store.plan.plan.keyGrowth)
                })
            parameters.append(
                array: stores.lazy.map { store in
                    store.plan.isRemoval
                        ? 0 : Int64(store.row.hub.byteCount + store.plan.plan.growth)
                })
            parameters.append(array: stores.lazy.map { $0.row.memory + Int64($0.plan.memoryGrowth) })
            parameters.append(array: states.lazy.map(\.encoded))
            parameters.append(records: records)
            parameters.append(keys: forgotten)
            return PostgreSQLExecution(commit, parameters)
        }

        /// Why a store was not changed.
        enum Hindrance {
            /// It has another version.
            case conflict
            /// Somebody has locked it, or its account.
            case locked
            case refusal(StoreRefusal)
        }

        /// The stores that were not changed, by their indices.
        static func hindrances(_ rows: PostgreSQLRows) throws(PostgreSQLError) -> [Int: Hindrance] {
            var result: [Int: Hindrance] = [:]
            for row in 0..<rows.count {
                let bound = Int(rows.int64(row, 3) ?? 0)
                let hindrance: Hindrance? =
                    switch rows.int32(row, 1) {
                    case 1: .conflict
                    case 2: .locked
                    case 3: .refusal(.accountFull(room: rows.int64(row, 2) ?? 0, limit: bound))
                    case 4: .refusal(.tooManyStores(limit: bound))
                    case 5: .refusal(.accountGone)
                    default: nil
                    }
                guard let ordinal = rows.int32(row, 0), let hindrance else {
                    throw PostgreSQLError(.other, "the database gave an unknown answer")
                }
                result[Int(ordinal) - 1] = hindrance
            }
            return result
        }

        // MARK: - Answers that were lost

        private static let committed = PostgreSQLStatement(
            "committed",
            """
            SELECT i.n FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY
                AS i (node, connection, place, number, ordinal, n)
            JOIN ubiquity.answer a ON a.node = i.node AND a.connection = i.connection
                AND a.place = i.place AND a.number = i.number AND i.ordinal <> ALL (a.refused)
            """, [.int64Array, .int64Array, .int32Array, .int64Array, .int32Array])

        /// Asks which were committed: to be sent after what loads their stores.
        static func reading(_ attempts: [DatabaseOperation.Attempt]) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters()
            parameters.append(array: attempts.lazy.map(\.place.node))
            parameters.append(array: attempts.lazy.map(\.place.connection))
            parameters.append(array: attempts.lazy.map(\.place.place))
            parameters.append(array: attempts.lazy.map(\.place.number))
            parameters.append(array: attempts.lazy.map { Int32($0.ordinal) })
            return PostgreSQLExecution(committed, parameters)
        }

        /// The indices of those that were committed.
        static func committed(_ rows: PostgreSQLRows) -> Set<Int> {
            Set((0..<rows.count).compactMap { rows.int64($0, 0).map { Int($0) - 1 } })
        }

        /// Ends with the transaction: what is read after it stays.
        static let lockStores = PostgreSQLStatement(
            "lock_stores", "SELECT FROM ubiquity.store WHERE id = ANY ($1) ORDER BY id FOR UPDATE", [.int64Array])

        static let lockAccount = PostgreSQLStatement(
            "lock_account", "SELECT FROM ubiquity.account WHERE name = $1 FOR UPDATE", [.text])

        // MARK: - Lists

        static let stores = PostgreSQLStatement(
            "stores",
            """
            SELECT name, key_count, byte_count, state FROM ubiquity.store
            WHERE account = $1 AND NOT is_removed ORDER BY name
            """, [.text])

        static let totals = PostgreSQLStatement(
            "totals",
            """
            SELECT account, count(*), sum(key_count)::bigint, sum(memory)::bigint
            FROM ubiquity.store WHERE NOT is_removed GROUP BY account
            """)

        static func totals(_ rows: PostgreSQLRows) -> [String: AccountTotals] {
            (0..<rows.count).reduce(into: [:]) { totals, row in
                totals[rows.text(row, 0) ?? ""] = AccountTotals(
                    storeCount: Int(rows.int64(row, 1) ?? 0), keyCount: Int(rows.int64(row, 2) ?? 0),
                    memoryByteCount: Int(rows.int64(row, 3) ?? 0))
            }
        }

        /// The stores of which a live reader waits, that have another version than is known.
        static let sweep = PostgreSQLStatement(
            "sweep",
            """
            SELECT i.ordinal FROM unnest($1, $2, $3) WITH ORDINALITY
                AS i (account, name, version, ordinal)
            JOIN ubiquity.store s ON s.account = i.account AND s.name = i.name
            WHERE s.version <> i.version
            """, [.textArray, .textArray, .int64Array])
    }

    /// The columns of rows in `record`, each an array. `store` is the key of the store's row.
    extension PostgreSQLParameters {
        mutating func append(_ place: AnswerPlace) {
            append(place.node)
            append(place.connection)
            append(place.place)
            append(place.number)
        }

        mutating func append(keys: some Collection<(store: Int64, key: StoreKey)>) {
            append(array: keys.lazy.map(\.store))
            append(array: keys.lazy.map { Array($0.key.text.utf8) })
        }

        /// Store, key, revision, stamp and value.
        mutating func append(records: [(store: Int64, entry: SequencedRecord)]) {
            append(keys: records.lazy.map { (store: $0.store, key: $0.entry.record.key) })
            append(array: records.lazy.map { Int64($0.entry.sequence) })
            append(
                array: records.lazy.map { record in
                    var bytes: [UInt8] = []
                    bytes.append(record.entry.record.stamp)
                    return bytes
                })
            append(
                array: records.lazy.map { record -> Data? in
                    if case .value(let data) = record.entry.record.content { data } else { nil }
                })
        }
    }
#endif
