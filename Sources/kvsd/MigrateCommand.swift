import ArgumentParser
import Commands
import Essentials
import KVStoreLedger
import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move all data of a stopped daemon to a PostgreSQL database, or back.",
        discussion: """
            Moves stores with their history, devices, accounts and pairing codes, and compares both sides. \
            Replicas and pages go on as if nothing had happened. Stop the daemon before, and start it on the \
            other side afterwards. Run the command again after an interruption.

              kvsd migrate --to postgres:///kvsd
              kvsd serve --database postgres:///kvsd

            --to needs a database without data of its own. The directory stays as it is, with a file \
            moved.json, because of which no daemon starts on its log.

            --from needs an empty directory, or one whose data has moved; what is replaced is kept beside \
            it. From then on no daemon starts on the database.

            Put a password into a password file of libpq: every user of this machine sees the arguments.
            """)

    @Option(help: ArgumentHelp("Address of the database to move to.", valueName: "address"))
    var to: String?
    @Option(help: ArgumentHelp("Address of the database to move from.", valueName: "address"))
    var from: String?
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var data: DataOption

    func validate() throws {
        guard (to == nil) != (from == nil) else { throw ValidationError("give --to or --from") }
        // A variable of a script that is not set would name the database that libpq takes without an address.
        for address in [to, from] { address?.warnOfPassword() }
        guard to != "", from != "" else {
            throw ValidationError("the address is empty; give one as postgres://USER@HOST/DATABASE")
        }
    }

    func run() throws {
        #if PostgreSQL
            if let to { try move(to: to) }
            if let from { try move(from: from) }
        #else
            throw CommandFailure.withoutDatabase
        #endif
    }
}

#if PostgreSQL
    extension MigrateCommand {
        /// Fields are added, never renamed or removed.
        private struct Report: Encodable {
            var stores: Int
            var removedStores: Int
            var keys: Int
            var tombstones: Int
            var bytes: Int
            var devices: Int
            var checksum: String
            var from: String
            var to: String
        }

        private func move(to address: String) throws {
            let directory = try data.existing()
            guard directory.hasLog else { throw CommandFailure.noData(in: directory) }
            let shown = address.withoutPassword
            if let former = try directory.moveFile.read(), former.database != shown {
                throw CommandFailure(
                    .dataError, "the data of \(directory.path) has moved to the database \(former.database)")
            }
            let ledger: Ledger
            do throws(ServerError) { ledger = try directory.openLedger() } catch {
                guard error.code == .inUse else { throw error }
                throw CommandFailure(
                    .temporaryFailure,
                    "kvsd runs with \(directory.path); stop it first, and start it on the database when the data has moved"
                )
            }
            let summary = try withExtendedLifetime(ledger) {
                try directory.withDevices { devices, pairings throws(ServerError) in
                    let migration = try DatabaseMigration(Database(address), isCopy: true)
                    return try migration.copy(
                        ledger.contents.allStores, devices, pairings, progress: Console.showProgress
                    ) { () throws(ServerError) in
                        try directory.moveFile.write(MoveFile.Move(database: shown))
                    }
                }
            }
            try report(summary, from: directory.path, to: shown)
        }

        private func move(from address: String) throws {
            let (directory, shown) = (data.directory, address.withoutPassword)
            let migration = try DatabaseMigration(Database(address), isCopy: false)
            let target = try DirectoryImport(into: directory, from: MoveFile.Move(database: shown))
            var summary = MigrationSummary()
            let former = try target.perform { storage throws(ServerError) in
                let copy = try migration.copy(to: storage, progress: Console.showProgress)
                summary = copy.summary
                return (copy.devices, copy.pairings)
            } commit: { () throws(ServerError) in
                try migration.commitExport()
            }
            try report(summary, from: shown, to: directory.path)
            if let former { Console.report("the former data is in \(former)") }
        }

        private func report(_ summary: MigrationSummary, from: String, to: String) throws {
            guard !json else {
                return try Console.printJSON(
                    Report(
                        stores: summary.storeCount, removedStores: summary.removedStoreCount, keys: summary.keyCount,
                        tombstones: summary.tombstoneCount, bytes: summary.byteCount, devices: summary.deviceCount,
                        checksum: summary.checksum, from: from, to: to))
            }
            try Console.print("Moved everything from \(from) to \(to):")
            try Console.print(
                "  stores    \(summary.storeCount), and what remains of \(summary.removedStoreCount) removed ones"
            )
            try Console.print(
                "  keys      \(summary.keyCount) with \(ByteCount(summary.byteCount)), "
                    + "and \(summary.tombstoneCount) removed ones")
            try Console.print("  devices   \(summary.deviceCount)")
            try Console.print("  checksum  \(summary.checksum), equal on both sides")
        }
    }
#endif
