#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreServer
    import KVStoreWire

    /// Devices, accounts and pairing codes of a database. A change locks its accounts, and limits on numbers are those
    /// of an account.
    package struct DeviceDatabase: DeviceStorage {
        let database: Database
        /// Identifies the data.
        let instance: String

        /// - Precondition: `Database.prepare` has been called.
        package init(_ database: Database) throws(ServerError) {
            self.database = database
            let rows = try database.transaction { connection throws(ServerError) in
                try connection.run(DeviceRows.instance)
            }
            instance = EpochID(rawValue: UInt64(bitPattern: rows.int64(0, 0) ?? 0)).description
        }

        package func table(_ selection: DeviceSelection) throws(ServerError) -> DeviceTable {
            try database.transaction { connection throws(ServerError) in
                try read(selection, connection, isLocked: false)
            }
        }

        package var hasDevices: Bool {
            get throws(ServerError) {
                let rows = try database.transaction { connection throws(ServerError) in
                    try connection.run(DeviceRows.exist)
                }
                return rows.bool(0, 0) ?? false
            }
        }

        package func change<Result>(
            _ selection: DeviceSelection, _ body: (inout DeviceTable) throws(ServerError) -> Result
        ) throws(ServerError) -> Result {
            try database.transaction { connection throws(ServerError) in
                let former = try read(selection, connection, isLocked: true)
                var table = former
                let result = try body(&table)
                try write(table, over: former, connection)
                return result
            }
        }

        /// - Parameter isLocked: until the end of the transaction.
        private func read(
            _ selection: DeviceSelection, _ connection: PostgreSQLConnection, isLocked: Bool
        ) throws(ServerError) -> DeviceTable {
            let names: [String]?
            switch selection {
            case .all: names = nil
            case .account(let account): names = [account]
            case .device(let text):
                let rows = try connection.run(DeviceRows.accountsOfDevice.with(text))
                names = (0..<rows.count).map { rows.text($0, 0) ?? "" }
            }
            let locks = isLocked ? (names ?? []).sorted().map { DeviceRows.lockAccountName.with($0) } : []
            let rows = try connection.run(
                locks + [
                    DeviceRows.accounts(names, isLocked: isLocked),
                    DeviceRows.devices(ofAccounts: names),
                ])
            return DeviceTable(
                instance: instance, devices: try DeviceRows.devices(rows[locks.count + 1]),
                accounts: DeviceRows.accounts(rows[locks.count]))
        }

        private func write(
            _ table: DeviceTable, over former: DeviceTable, _ connection: PostgreSQLConnection
        ) throws(ServerError) {
            guard table != former else { return }
            let devices = Difference(of: former.devices, and: table.devices, by: \.id)
            let accounts = Difference(of: former.accounts ?? [], and: table.accounts ?? [], by: \.name)
            var executions = accounts.removed.map { DeviceRows.deleteAccount.with($0.name) }
            if !devices.removed.isEmpty {
                executions.append(DeviceRows.deleteDevices.with(array: devices.removed.map(\.id)))
            }
            executions += accounts.written.map { DeviceRows.writing($0) }
            executions += devices.written.map { DeviceRows.writing($0) }
            let changed = Set((devices.removed + devices.written).map(\.account))
                .union((accounts.removed + accounts.written).map(\.name))
            executions += changed.sorted().map { DeviceRows.markChanged.with($0) }
            try connection.run(executions)
            try connection.checkMigration()
        }

        // MARK: - Pairing codes

        package func changePairings<Result>(
            _ selection: PairingSelection,
            _ body: (
                inout PairingTable, (_ account: String) throws(ServerError) -> DeviceTable
            ) throws(ServerError) -> Result
        ) throws(ServerError) -> Result {
            try database.transaction { connection throws(ServerError) in
                let rows: PostgreSQLRows
                switch selection {
                case .code(let id): rows = try connection.run(DeviceRows.pairing.with(id))
                case .account(let account):
                    // Before the codes, as the removal of the account does.
                    rows = try connection.run([
                        DeviceRows.accounts([account], isLocked: true),
                        DeviceRows.pairingsOfAccount.with(account),
                    ])[1]
                }
                let former = try DeviceRows.pairings(rows)
                var table = former
                let result = try body(&table) { account throws(ServerError) in
                    try read(.account(account), connection, isLocked: false)
                }
                guard table != former else { return result }
                let changes = Difference(of: former.pairings, and: table.pairings, by: \.id)
                try connection.run(
                    [DeviceRows.deletePairings.with(array: changes.removed.map(\.id))]
                        + changes.written.map { DeviceRows.writing($0) })
                try connection.checkMigration()
                return result
            }
        }

        // MARK: - Removal of accounts

        package var removedAccount: Account? {
            get throws(ServerError) {
                try database.transaction { connection throws(ServerError) in
                    DeviceRows.accounts(try connection.run(DeviceRows.oldestRemoval))
                }.first
            }
        }

        /// The lock belongs to a connection of its own, and ends with it.
        package func removeAccounts(_ body: (_ checkLock: () throws -> Void) throws -> Void) throws -> Bool {
            let connection = try ServerError.wrapping { () throws(PostgreSQLError) in
                try database.connect(as: "accounts").connection
            }
            defer { connection.close() }
            let lock = try connection.run("SELECT pg_try_advisory_lock(\(DatabaseSchema.removalLock))")
            guard lock.bool(0, 0) == true else { return false }
            try body { try connection.run("SELECT 1") }
            return true
        }
    }

    extension DatabaseSchema {
        /// The advisory lock of who removes accounts.
        static let removalLock = lock + 1
    }

    /// What turns one list into another.
    private struct Difference<Element: Equatable> {
        let removed: [Element]
        /// Added or changed.
        let written: [Element]

        init(of former: [Element], and present: [Element], by id: (Element) -> String) {
            let formerByID = Dictionary(former.map { (id($0), $0) }) { $1 }
            let ids = Set(present.map(id))
            removed = former.filter { !ids.contains(id($0)) }
            written = present.filter { formerByID[id($0)] != $0 }
        }
    }

    extension PostgreSQLConnection {
        /// All devices, and the accounts that differ from what every database has.
        func readDevices(timeout: Duration = Database.timeout) throws(ServerError) -> DeviceTable {
            let rows = try run(
                [
                    PostgreSQLExecution(DeviceRows.instance),
                    DeviceRows.accounts(nil, isLocked: false), DeviceRows.devices(ofAccounts: nil),
                ], timeout: timeout)
            let instance = EpochID(rawValue: UInt64(bitPattern: rows[0].int64(0, 0) ?? 0))
            let accounts = DeviceRows.accounts(rows[1]).filter {
                $0 != Account(name: Account.defaultName, created: 0)
            }
            return DeviceTable(
                instance: instance.description, devices: try DeviceRows.devices(rows[2]),
                accounts: accounts.isEmpty ? nil : accounts)
        }

        /// Throws if the data has moved; otherwise it cannot before the end of the transaction.
        func checkMigration() throws(ServerError) {
            try ServerError.wrapping { () throws(PostgreSQLError) in try DatabaseSchema.checkMigration(self) }
        }

        /// Executes a statement without parameters in the transaction that has begun.
        @discardableResult
        func run(
            _ statement: PostgreSQLStatement, timeout: Duration = Database.timeout
        ) throws(ServerError) -> PostgreSQLRows {
            try run(PostgreSQLExecution(statement), timeout: timeout)
        }

        @discardableResult
        func run(
            _ execution: PostgreSQLExecution, timeout: Duration = Database.timeout
        ) throws(ServerError) -> PostgreSQLRows {
            try run([execution], timeout: timeout)[0]
        }

        /// Executes statements in the transaction that has begun; throws the first error.
        @discardableResult
        func run(
            _ executions: [PostgreSQLExecution], timeout: Duration = Database.timeout
        ) throws(ServerError) -> [PostgreSQLRows] {
            var rows: [PostgreSQLRows] = []
            for result in pipeline(executions, timeout: timeout) { rows.append(try ServerError.wrapping(result.get)) }
            return rows
        }
    }
#endif
