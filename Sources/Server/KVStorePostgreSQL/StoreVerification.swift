#if PostgreSQL
    import Essentials
    package import KVStoreCore
    import KVStoreLedger

    /// Something in a database that no daemon has written. The description is not escaped.
    package struct DatabaseDamage: Sendable, Equatable, CustomStringConvertible {
        /// Nil for what belongs to none.
        package var store: StoreID?
        /// As far as it can be shown.
        package var key: String?
        package var detail: String

        package var description: String {
            let place = store.map { "\($0.account)/\($0.name): damaged" } ?? "damaged"
            return place + (key.map { " at the key '\($0)'" } ?? "") + ": \(detail)"
        }
    }

    /// Reads and verifies a row of `store` with its records, which are added in the order of their revisions.
    struct StoreVerification {
        private var contents: StoreContents
        private var damage: [DatabaseDamage] = []
        /// Nil if it cannot be decoded.
        private let state: Hub.State?
        private let counts: [(name: String, value: Int64)]
        private let revision: Int64
        private let horizon: Int64
        private var recordCount = 0
        private var lastRevision: Int64 = 0

        /// Columns of `store`, as `init` reads them.
        static let columns = """
            id, account, name, memory, state, is_removed, key_count, byte_count, revision, horizon
            """
        static let columnCount = 10

        static let selectRecords = PostgreSQLStatement(
            "stored_records",
            """
            SELECT store, key, revision, stamp, value FROM ubiquity.record WHERE store = ANY ($1)
            ORDER BY store, revision
            """, [.int64Array])

        /// - Parameter records: of these stores.
        static func read(
            _ stores: PostgreSQLRows, _ range: Range<Int>, _ records: PostgreSQLRows
        ) -> [(StoreContents, [DatabaseDamage])] {
            var found = range.map { StoreVerification(stores, $0) }
            let indices = Dictionary(range.map { (stores.int64($0, 0) ?? 0, $0 - range.lowerBound) }) { $1 }
            for row in 0..<records.count {
                guard let index = indices[records.int64(row, 0) ?? 0] else { continue }
                found[index].load(records, row)
            }
            return found.map { $0.verified() }
        }

        init(_ rows: PostgreSQLRows, _ row: Int) {
            state = rows.withBytes(row, 4) { $0.flatMap { Hub.State(encoded: $0) } }
            contents = StoreContents(
                StoreID(account: rows.text(row, 1) ?? "", name: rows.text(row, 2) ?? ""),
                Hub(state ?? Hub.State(epochs: [])), isRemoved: rows.bool(row, 5) ?? false)
            counts = [("memory", 3), ("key_count", 6), ("byte_count", 7)].map {
                ($0, rows.int64(row, $1) ?? 0)
            }
            revision = rows.int64(row, 8) ?? 0
            horizon = rows.int64(row, 9) ?? 0
        }

        private mutating func report(_ detail: String, key: String? = nil) {
            damage.append(DatabaseDamage(store: contents.id, key: key, detail: detail))
        }

        mutating func load(_ rows: PostgreSQLRows, _ row: Int) {
            recordCount += 1
            let key = rows.text(row, 1) ?? ""
            let found = rows.int64(row, 2) ?? 0
            if found < 1 || found > revision {
                report("the revision \(found) is not one of the store, which has \(revision)", key: key)
            } else if found == lastRevision {
                report("another record has the revision \(found) too", key: key)
            }
            lastRevision = found
            guard found >= 0, let entry = DatabaseStatements.record(rows, row, from: 1) else {
                return report("the key or the stamp cannot be decoded", key: key)
            }
            let record = entry.record
            if !KeyProfile.standard.allows(record.key) { report("the key is not allowed", key: key) }
            if record.content.byteCount > StoreLimits.ceiling.valueByteCount {
                report("a value of \(record.content.byteCount) bytes", key: key)
            }
            if let state, record.stamp.milliseconds > state.clockMilliseconds {
                report("the stamp \(record.stamp) is later than the clock of the store", key: key)
            }
            contents.hub.load(entry)
        }

        func unreadable(_ reason: String) -> (StoreContents, [DatabaseDamage]) {
            var found = self
            found.report("PostgreSQL cannot read its records: \(reason)")
            return (contents, found.damage)
        }

        private func verified() -> (StoreContents, [DatabaseDamage]) {
            var found = self
            found.contents.hub.finishLoading()
            found.verify()
            return (found.contents, found.damage)
        }

        private mutating func verify() {
            if let state { verify(state) } else { report("the state cannot be decoded") }
            if contents.isRemoved, recordCount > 0 {
                report("the store was removed, and has \(recordCount) records")
            }
            let hub = contents.hub
            let limits = StoreLimits.ceiling
            if hub.keyCount > limits.keyCount || hub.byteCount > limits.totalByteCount {
                report("\(hub.keyCount) keys with \(hub.byteCount) bytes, more than a store can have")
            }
            let sums = [Ledger.memoryByteCount(of: hub), hub.keyCount, hub.byteCount]
            for (count, sum) in zip(counts, sums) where count.value != Int64(sum) {
                report("\(count.name) is \(count.value), and the records have \(sum)")
            }
        }

        private mutating func verify(_ state: Hub.State) {
            if revision < 0 || UInt64(revision) != state.sequence {
                report("the revision is \(revision), and in the state \(state.sequence)")
            }
            if horizon < 0 || UInt64(horizon) != state.horizon {
                report("the horizon is \(horizon), and in the state \(state.horizon)")
            }
            let starts = state.epochs.map(\.start)
            if state.horizon > state.sequence || (starts.last ?? 0) > state.sequence || starts != starts.sorted() {
                report("the epochs or the horizon do not belong to the sequence number")
            }
        }
    }
#endif
