import ArgumentParser
import CommandSupport
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
            Replicas and pages go on as if nothing had happened. Stop the daemon first. Run the \
            command again after an interruption: it continues.

              kvsd migrate --to postgres:///kvsd
              kvsd serve --database postgres:///kvsd

            --to needs a database without data of its own. It leaves the directory as it is, with a file \
            moved.json, because of which no daemon starts on its log. --from needs an empty directory, or \
            one whose data has moved; what is replaced is kept beside it.
            """)

    @Option(help: ArgumentHelp("Address of the database to move to.", valueName: "address"))
    var to: String?
    @Option(help: ArgumentHelp("Address of the database to move from.", valueName: "address"))
    var from: String?
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var data: DataOption

    func validate() throws {
        guard (to == nil) != (from == nil) else { throw ValidationError("give --to or --from") }
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
            if let move = try directory.moveFile.read(), move.database != shown {
                throw CommandFailure(
                    .dataError,
                    "the data of \(directory.path) has moved to the database \(move.database)")
            }
            let ledger = try directory.openLedger()
            let devices = try directory.deviceFile.change { $0 }
            let pairings = try directory.deviceFile.changePairings(.account("")) { table, _ in table
            }
            let migration = try DatabaseMigration(Database(address), isCreating: true)
            let summary = try migration.copy(
                ledger.contents.migratedStores, devices, pairings, progress: progress)
            // From here on, only one of the two can be used.
            try directory.moveFile.write(MoveFile.Move(database: shown))
            try migration.finish()
            try ledger.close()
            try report(summary, from: directory.path, to: shown)
        }

        private func move(from address: String) throws {
            let directory = data.directory
            let shown = address.withoutPassword
            let migration = try DatabaseMigration(Database(address), isCreating: false)
            let target = try DirectoryImport(
                into: directory, from: MoveFile.Move(database: shown))
            var summary = MigrationSummary()
            let former = try target.perform(try migration.devices(), try migration.pairings()) {
                storage throws(ServerError) in
                summary = try migration.export(to: storage, progress: progress)
            }
            try report(summary, from: shown, to: directory.path)
            if let former { Console.report("the former data is in \(former)") }
        }

        private func progress(_ count: Int, _ total: Int) {
            guard Console.isErrorTerminal, count % 256 == 0 || count == total else { return }
            Console.note(
                "\r\(count) of \(total) stores", terminator: count == total ? "\n" : "")
        }

        private func report(_ summary: MigrationSummary, from: String, to: String) throws {
            guard !json else {
                return try Console.printJSON(
                    Report(
                        stores: summary.storeCount, removedStores: summary.removedStoreCount,
                        keys: summary.keyCount, tombstones: summary.tombstoneCount,
                        bytes: summary.byteCount, devices: summary.deviceCount,
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
