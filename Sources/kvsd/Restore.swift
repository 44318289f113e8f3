import ArgumentParser
import Commands
import Essentials
import KVStoreLedger
import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup into the directory of a stopped daemon, or a database.",
        discussion: """
            The whole file is verified first; nothing is changed if it is not intact. Every store begins \
            a new epoch, so that replicas notice the older state and send what the backup lacks. Devices \
            and the key of the certificate come back, so devices stay paired. Devices and accounts \
            that were added since are locked out, unless --keep-devices is given; the plan names \
            them. What is replaced is kept beside it.

            A database must not be used by daemons. Killed before it has ended, run it again: until then \
            no daemon starts on the database. What is replaced is kept in a schema of another name.

              kvsd restore monday.backup
              kvsd restore monday.backup --data /srv/ubiquity
              kvsd restore monday.backup --replace --keep-devices
              kvsd restore monday.backup --database postgres:///kvsd
            """)

    @Argument(help: "Backup to restore.") var file: String
    @Flag(help: "Replace the data that the directory has, after asking.") var replace = false
    @Flag(help: "Do not ask before replacing.") var yes = false
    @Flag(help: "Keep the present devices instead of those of the backup.") var keepDevices = false
    @OptionGroup var storage: StorageOption

    func validate() throws {
        if yes, !replace { throw ValidationError("--yes requires --replace") }
    }

    func run() throws {
        guard FileManager.default.fileExists(atPath: file) else {
            throw CommandFailure(.noInput, "\(file): no such file")
        }
        let backup = try LedgerBackup(verifying: file)
        #if PostgreSQL
            if let address = try storage.databaseAddress() {
                return try restore(backup, intoDatabase: address)
            }
        #endif
        let directory = try storage.logDirectory()
        let restore = try DirectoryRestore(backup, into: directory, keepsDevices: keepDevices)
        let present = restore.replaces ? restore.present.text : nil
        try perform(backup, into: directory.path, replacing: present, changing: restore.deviceChange) {
            try directory.checkOwner()
            for change in try directory.protect() { Console.report(change) }
            return try restore.perform()
        }
    }

    #if PostgreSQL
        private func restore(_ backup: LedgerBackup, intoDatabase address: String) throws {
            let restore = try DatabaseRestore(backup, into: Database(address), keepsDevices: keepDevices)
            let place = "the database \(address.withoutPassword)"
            let present = restore.present.map {
                BackupSummary.counts($0.storeCount, $0.keyCount)
            }
            let isDone = try perform(backup, into: place, replacing: present, changing: restore.deviceChange) {
                try restore.perform(progress: Console.showProgress).map { "the schema \($0)" }
            }
            if isDone { try placeFiles(of: backup) }
        }

        private func placeFiles(of backup: LedgerBackup) throws {
            guard let directory = try storage.nodeDirectory else { return }
            let (placed, different) = try backup.placeFiles(in: directory)
            if !placed.isEmpty {
                try Console.print("Put \(placed.joined(separator: ", ")) into \(directory.path), for a node of it.")
            }
            if !different.isEmpty {
                Console.report(
                    "\(directory.path) keeps \(different.joined(separator: ", ")), which the backup has "
                        + "otherwise; devices recognize the daemon by its key")
            }
        }
    #endif

    /// Restores after asking; returns whether it has.
    @discardableResult
    private func perform(
        _ backup: LedgerBackup, into place: String, replacing present: String?,
        changing devices: DeviceListChange, _ restore: () throws -> String?
    ) throws -> Bool {
        if let present {
            guard replace else {
                throw CommandFailure(
                    .cannotCreate,
                    "\(place) already has data: \(present); nothing was changed. --replace replaces it and "
                        + "keeps it aside")
            }
            try Console.print("To do: replace \(present)")
            try Console.print("       by the backup of \(backup.summary.text)")
            for line in devices.plan { try Console.print("To do: \(line)") }
            guard try yes || Console.confirm(verb: "replace") else {
                try Console.print("Nothing was changed.")
                return false
            }
        }
        let former = try restore()
        try Console.print("Restored \(backup.summary.counts) to \(place).")
        if let former { try Console.print("The former data is in \(former).") }
        guard present != nil else { return true }
        for line in devices.outcome { try Console.print(line) }
        return true
    }
}

extension Device {
    fileprivate var text: String { "the device \(name) (\(id)) of the account \(account)" }
}

extension DeviceListChange {
    fileprivate var plan: [String] {
        goneAccounts.map { "lock out the account \($0)\(Self.advice)" }
            + lockedOut.map { "lock out \($0.text)\(Self.advice)" }
            + returningAccounts.map { "bring back the account \($0)" } + admitted.map { "admit \($0.text)" }
    }

    private static let advice = ", which the backup does not list (keep it with --keep-devices)"

    fileprivate var outcome: [String] {
        lockedOut.map { "Locked out: \($0.text). To let it in: kvsd pair, and kvs join there" }
            + admitted.map { "Admitted again: \($0.text). To revoke its token: kvsd device remove \($0.id)" }
    }
}

extension DirectoryRestore.Present {
    fileprivate var text: String {
        guard let changed else { return "a list of devices without a log" }
        return "the data of \(changed.formatted(.iso8601)): "
            + BackupSummary.counts(storeCount, keyCount)
            + (damage.map { " (\($0))" } ?? "")
    }
}
