import ArgumentParser
import Commands
import Essentials
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreServer
import LocalFiles
import TerminalText

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify every record, changing nothing.",
        discussion: """
            Reads every record and compares its checksum, also while the daemon runs. Exits with 0 if \
            all are intact, and with 74 if anything else is found; each finding has its file and offset.

            Of a database it reads every store, device and account as of one instant, and compares counts, \
            sums, revisions and stamps; each finding has its store and key.

            With --repair, of a log, it says what would be done, asks, and then does what the next start of the \
            daemon would do: cut an incomplete write and make every replica compare what it has.

              kvsd check
              kvsd check /srv/ubiquity
              kvsd check monday.backup
              kvsd check --database postgres:///kvsd
              kvsd check --repair
            """)

    @Argument(help: ArgumentHelp("Directory with the daemon's data, or a backup.", valueName: "path"))
    var path: String?
    @Flag(help: "Cut incomplete writes of a stopped daemon, after asking.") var repair = false
    @Flag(help: "Do not ask before repairing.") var yes = false
    @OptionGroup var storage: StorageOption

    func validate() throws {
        if yes, !repair { throw ValidationError("--yes requires --repair") }
    }

    func run() throws {
        if let path, try FileStatus(path: path)?.kind == .file { return try verify(path) }
        #if PostgreSQL
            if path == nil, let database = try storage.openDatabase() {
                return try verify(database)
            }
        #endif
        let directory = try path.map { DataDirectory($0) } ?? storage.logDirectory()
        let (found, isInUse) = try directory.inspectLog()
        let state = isInUse ? ", read while the daemon runs" : ""
        try Console.print("\(directory.logPath): \(found.recovery.frameCount) records\(state)")
        for damage in found.recovery.damage { try printEscaped(damage.text("damaged")) }
        for cut in found.recovery.cutWrites { try printEscaped(cut.text("incomplete write")) }
        for store in found.stores { try print(store) }
        _ = try directory.deviceFile.devices
        guard let failure = found.failure else { return try Console.print("All intact.") }
        if repair, found.recovery.damage.isEmpty {
            return try repair(directory, cutting: found.recovery.cutWrites)
        }
        throw failure
    }

    private func print(_ store: StoreContents) throws {
        let (id, hub) = (store.id, store.hub)
        try printEscaped(
            "\(id.account)/\(id.name): \(hub.keyCount) keys, \(hub.byteCount) bytes, "
                + "sequence number \(hub.sequence), epoch \(hub.end.epoch)")
    }

    /// What was found can contain any names.
    private func printEscaped(_ line: String) throws {
        try Console.print(VisibleText.escape(line))
    }

    #if PostgreSQL
        private func verify(_ database: Database) throws {
            guard !repair else { throw ValidationError("--repair is for a log; of a database, restore a backup") }
            let address = try storage.databaseAddress()?.withoutPassword ?? ""
            let snapshot = try DatabaseSnapshot(database)
            try Console.print("\(address): \(snapshot.storeCount) stores, removed ones included")
            let (deviceDamage, accounts) = try snapshot.verifyDevices()
            var damage: [DatabaseDamage] = []
            func record(_ found: [DatabaseDamage]) throws {
                for item in found { try printEscaped(item.description) }
                damage += found
            }
            try record(deviceDamage)
            try snapshot.readStores { store, damage in
                try record(damage)
                guard !store.isRemoved else { return }
                try print(store)
                guard !accounts.contains(store.id.account) else { return }
                try printEscaped(
                    "\(store.id.account)/\(store.id.name): the account does not exist, so that no "
                        + "device can use the store")
            }
            try record(try snapshot.abandonedRecords())
            if let failure = damage.failure { throw failure }
            try Console.print("All intact.")
        }
    #endif

    private func verify(_ path: String) throws {
        guard !repair else { throw ValidationError("--repair needs a directory") }
        let backup = try LedgerBackup(verifying: path)
        try Console.print("\(path): \(backup.summary.frameCount) records, \(backup.byteCount) bytes")
        try Console.print("A backup of \(backup.summary.text). All intact.")
    }

    private func repair(_ directory: DataDirectory, cutting cuts: [LogDamage]) throws {
        for cut in cuts { try Console.print("To do: cut the \(cut.text("incomplete write"))") }
        try Console.print("To do: begin a new epoch of every store, so that replicas send what is missing")
        guard try yes || Console.confirm(verb: "repair") else { return try Console.print("Nothing was changed.") }
        try directory.openLedger().close()
        try Console.print("Repaired.")
    }
}
