import ArgumentParser
import CommandSupport
import Essentials
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreServer

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify every record, changing nothing.",
        discussion: """
            Reads every record and compares its checksum, also while the daemon runs. Exits with 0 if \
            all are intact, and with 74 if anything else is found; each finding has its file and offset.

            With --repair it says what would be done, asks, and then does what the next start of the \
            daemon would do: cut an incomplete write and make every replica compare what it has.

              kvsd check
              kvsd check /srv/ubiquity
              kvsd check --repair
            """)

    @Argument(help: "Directory with the daemon's data.") var directory: String?
    @Flag(help: "Cut incomplete writes of a stopped daemon, after asking.") var repair = false
    @Flag(help: "Do not ask before repairing.") var yes = false
    @OptionGroup var data: DataOption

    func validate() throws {
        if yes, !repair { throw ValidationError("--yes requires --repair") }
    }

    func run() throws {
        let directory = DataDirectory(directory ?? data.data)
        guard directory.hasLog else { throw CommandFailure.noData(in: directory) }
        let (found, isInUse) = try directory.inspect()
        let state = isInUse ? ", read while the daemon runs" : ""
        try Console.print("\(directory.logPath): \(found.recovery.frameCount) records\(state)")
        for damage in found.recovery.damage { try Console.print(damage.text("damaged")) }
        for cut in found.recovery.cutWrites { try Console.print(cut.text("incomplete write")) }
        for (id, hub) in found.stores {
            try Console.print(
                "\(id.account)/\(id.name): \(hub.keyCount) keys, \(hub.byteCount) bytes, "
                    + "sequence number \(hub.sequence), epoch \(hub.end.epoch)")
        }
        _ = try directory.deviceFile.devices
        guard let first = found.findings.first else { return try Console.print("All intact.") }
        if repair, found.recovery.damage.isEmpty {
            return try repair(directory, cutting: found.recovery.cutWrites)
        }
        let rest = found.findings.count - 1
        let isDamaged = !found.recovery.damage.isEmpty
        throw CommandFailure(
            .ioError,
            first.text(isDamaged ? "damaged" : "incomplete write")
                + (rest > 0 ? ", and \(rest) more" : "") + "; nothing was changed. "
                + (isDamaged
                    ? "Restore the directory from a backup; replicas send what the backup lacks"
                    : "'kvsd check --repair' cuts it, as the next start does"))
    }

    private func repair(_ directory: DataDirectory, cutting cuts: [LogDamage]) throws {
        for cut in cuts { try Console.print("To do: cut the \(cut.text("incomplete write"))") }
        try Console.print(
            "To do: begin a new epoch of every store, so that replicas send what is missing")
        if !yes {
            guard try Console.confirm(verb: "repair") else {
                return try Console.print("Nothing was changed.")
            }
        }
        try directory.openLedger().close()
        try Console.print("Repaired.")
    }
}

extension LogDamage {
    fileprivate func text(_ what: String) -> String {
        "\(path): \(what) at byte \(offset): \(detail)"
    }
}

extension CommandFailure {
    static func noData(in directory: DataDirectory) -> CommandFailure {
        CommandFailure(
            .noInput,
            "\(directory.path) contains no data of a daemon; use --data to name the directory")
    }
}
