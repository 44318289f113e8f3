#if PostgreSQL
    package import KVStoreCore
    import KVStoreLedger
    package import KVStoreServer
    import NIOCore

    /// What commands ask of a database besides its devices.
    extension Database {
        /// Whether a daemon has ever used the database.
        package var hasSchema: Bool {
            get throws(ServerError) {
                try ServerError.wrapping { () throws(PostgreSQLError) in
                    let connection = try PostgreSQLConnection(
                        address, applicationName: "kvsd administration", timeout: Self.timeout)
                    defer { connection.close() }
                    return try DatabaseSchema.presentVersion(connection) > 0
                }
            }
        }

        /// The names of the daemons that run, or did within the last half minute and were killed.
        package var nodes: [String] {
            get throws(ServerError) {
                try transaction { connection throws(ServerError) in try Self.nodes(connection) }
            }
        }

        static func nodes(_ connection: PostgreSQLConnection) throws(ServerError) -> [String] {
            let rows = try connection.run(
                "SELECT name FROM ubiquity.node WHERE seen > now() - interval '30 seconds' ORDER BY name")
            return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }

        private func read(_ statement: PostgreSQLStatement) throws(ServerError) -> PostgreSQLRows {
            try transaction { connection throws(ServerError) in try connection.run(statement) }
        }

        /// All accounts with what they use.
        package func accountUsage() throws(ServerError) -> [AccountUsage] {
            let totals = DatabaseStatements.totals(try read(DatabaseStatements.totals))
            return try DeviceDatabase(self).table(.all).usage(totals)
        }

        // MARK: - Stores

        package typealias StoreSummary = (id: StoreID, keyCount: Int, byteCount: Int, sequence: UInt64)

        /// Sorted by account and name.
        package func storeSummaries() throws(ServerError) -> [StoreSummary] {
            let rows = try read(
                """
                SELECT account, name, key_count, byte_count, revision FROM ubiquity.store
                WHERE NOT is_removed ORDER BY account, name
                """)
            return (0..<rows.count).map { row in
                (
                    id: StoreID(account: rows.text(row, 0) ?? "", name: rows.text(row, 1) ?? ""),
                    keyCount: Int(rows.int64(row, 2) ?? 0), byteCount: Int(rows.int64(row, 3) ?? 0),
                    sequence: UInt64(rows.int64(row, 4) ?? 0)
                )
            }
        }

        /// Removes a store with all its records, and notifies the daemons; returns how many keys it had, nil without
        /// the store.
        package func removeStore(_ id: StoreID) throws(ServerError) -> Int? {
            try transaction { connection throws(ServerError) in
                let store = CachedStore(id)
                try connection.run(Self.lockStore.with(id.account, id.name))
                let rows = try connection.run(DatabaseStatements.loading([store]))
                let loaded = try ServerError.wrapping { () throws(PostgreSQLError) in
                    try DatabaseStatements.loaded(rows, [store])
                }
                guard let row = loaded.stores[0], !row.isRemoved else { return nil }
                guard let generation = loaded.generation else {
                    throw ServerError(.database, "the database moved to another server", hint: "try again")
                }
                store.row = row
                let plan = StorePlan(
                    [DatabaseOperation(.remove { _ in }, loop: 0, deadline: .now())], on: row, generation: generation,
                    now: ServerClock.wallMilliseconds(), newEpoch: { EpochID(rawValue: .random(in: 1 ... .max)) })
                try connection.run([
                    DatabaseStatements.committing(
                        [(store, plan)], generation: generation,
                        answer: AnswerPlace(node: 0, connection: 0, place: 0, number: 0)),
                    DatabaseListener.notification(DatabaseListener.payload(of: [id]), from: "0"),
                ])
                try connection.checkMigration()
                return row.hub.keyCount
            }
        }

        private static let lockStore = PostgreSQLStatement(
            "lock_store", "SELECT FROM ubiquity.store WHERE account = $1 AND name = $2 FOR UPDATE", [.text, .text])
    }
#endif
