#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLedger

    /// Rows of stores that are copied.
    enum StoreRows {
        private static let write = PostgreSQLStatement(
            "write_stores",
            """
            INSERT INTO ubiquity.store (
                account, name, version, revision, horizon, generation, is_removed, key_count,
                byte_count, memory, state
            ) SELECT i.account, i.name, 1, i.revision, i.horizon, m.generation, i.is_removed,
                i.key_count, i.byte_count, i.memory, i.state
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) AS i (
                account, name, revision, horizon, is_removed, key_count, byte_count, memory, state
            ) CROSS JOIN ubiquity.meta m
            RETURNING id, account, name
            """,
            [
                .textArray, .textArray, .int64Array, .int64Array, .boolArray, .int32Array,
                .int64Array, .int64Array, .bytesArray,
            ])

        static func writing(_ stores: [StoreContents]) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters(byteCapacity: 256 * stores.count)
            parameters.append(array: stores.lazy.map(\.id.account))
            parameters.append(array: stores.lazy.map(\.id.name))
            parameters.append(array: stores.lazy.map { Int64($0.hub.sequence) })
            parameters.append(array: stores.lazy.map { Int64($0.hub.horizon) })
            parameters.append(array: stores.lazy.map(\.isRemoved))
            parameters.append(array: stores.lazy.map { Int32($0.hub.keyCount) })
            parameters.append(array: stores.lazy.map { Int64($0.hub.byteCount) })
            parameters.append(array: stores.lazy.map { Int64(Ledger.memoryByteCount(of: $0.hub)) })
            parameters.append(array: stores.lazy.map(\.hub.state.encoded))
            return PostgreSQLExecution(write, parameters)
        }
    }

    /// Records for few statements.
    struct RecordBatch {
        private var records: [(store: Int64, entry: SequencedRecord)] = []
        private var byteCount = 0

        var isEmpty: Bool { records.isEmpty }
        var isFull: Bool { records.count >= 1_000 || byteCount >= 1 << 20 }

        mutating func append(_ entry: SequencedRecord, of store: Int64) {
            records.append((store, entry))
            byteCount += 128 + entry.record.content.byteCount
        }

        mutating func takeExecution() -> PostgreSQLExecution {
            defer { self = RecordBatch() }
            var parameters = PostgreSQLParameters(byteCapacity: byteCount)
            parameters.append(records: records)
            return PostgreSQLExecution(Self.write, parameters)
        }

        private static let write = PostgreSQLStatement(
            "write_records",
            """
            INSERT INTO ubiquity.record (store, key, revision, stamp, value)
            SELECT * FROM unnest($1, $2, $3, $4, $5)
            """, [.int64Array, .bytesArray, .int64Array, .bytesArray, .bytesArray])
    }
#endif
