import ArgumentParser
import CommandSupport
import Essentials
import KVStoreLedger
import KVStoreServer

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore a backup into the directory of a stopped daemon.",
        discussion: """
            The whole file is verified first; nothing is changed if it is not intact. Every store begins \
            a new epoch, so that replicas notice the older state and send what the backup lacks. Devices \
            and the key of the certificate come back, so devices stay paired. What is replaced is kept \
            beside it.

              kvsd restore monday.backup
              kvsd restore monday.backup --data /srv/ubiquity
              kvsd restore monday.backup --replace --keep-devices
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
        let directory = try storage.logDirectory(
            orWithDatabase:
                "restore it with PostgreSQL; or restore the file into another directory with --data and "
                + "--database '', and move that with 'kvsd migrate --to'")
        guard FileManager.default.fileExists(atPath: file) else {
            throw CommandFailure(.noInput, "\(file): no such file")
        }
        let backup = try LedgerBackup(verifying: file)
        let restore = try DirectoryRestore(backup, into: directory, keepsDevices: keepDevices)
        if restore.replaces {
            guard replace else {
                throw CommandFailure(
                    .cannotCreate,
                    "\(directory.path) already has data: \(restore.present.text); nothing was changed. "
                        + "--replace replaces it and keeps it aside")
            }
            try Console.print("To do: replace \(restore.present.text)")
            try Console.print("       by the backup of \(backup.summary.text)")
            for device in restore.readmitted { try Console.print("To do: admit \(device.text)") }
            guard try yes || Console.confirm(verb: "replace") else {
                return try Console.print("Nothing was changed.")
            }
        }
        try directory.checkOwner()
        for change in try directory.protect() { Console.report(change) }
        let former = try restore.perform()
        try Console.print("Restored \(backup.summary.counts) to \(directory.path).")
        if let former { try Console.print("The former data is in \(former).") }
        guard restore.replaces else { return }
        for device in restore.readmitted {
            try Console.print(
                "Admitted again: \(device.text). To revoke its token: kvsd device remove \(device.id)"
            )
        }
    }
}

extension Device {
    fileprivate var text: String { "the device \(name) (\(id)) of the account \(account)" }
}

extension DirectoryRestore.Present {
    fileprivate var text: String {
        guard let changed else { return "a list of devices without a log" }
        return "the data of \(changed.formatted(.iso8601)): "
            + BackupSummary.counts(storeCount, keyCount)
            + (damage.map { " (\($0))" } ?? "")
    }
}
