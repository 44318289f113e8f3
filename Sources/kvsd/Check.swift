import ArgumentParser
import CommandSupport
import Essentials
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreServer
import KVStoreWire

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify every record of a stopped daemon.",
        discussion: """
            Reads every record and compares its checksum. Exits with 0 if all are intact, with 74 and \
            the file and offset of the damage, or with 75 if a daemon uses the directory.

              kvsd check
              kvsd check /srv/ubiquity
            """)

    @Argument(help: "Directory with the daemon's data.") var directory: String?
    @OptionGroup var data: DataOption

    func run() throws {
        let directory = DataDirectory(directory ?? data.data)
        let ledger = try directory.openExistingLedger()
        try Console.print("\(directory.logPath): \(ledger.recovery.frameCount) records, all intact")
        for cut in ledger.recovery.cutWrites {
            try Console.print(
                "\(cut.path): removed an incomplete write at byte \(cut.offset): \(cut.detail)")
        }
        for (id, hub) in ledger.hubs {
            try Console.print(
                "\(id.account)/\(id.name): \(hub.keyCount) keys, \(hub.byteCount) bytes, "
                    + "sequence number \(hub.sequence), epoch \(hub.end.epoch)")
        }
    }
}

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the records of a stopped daemon, one JSON object per line.",
        discussion: """
            Prints only the sizes of values without --values.

              kvsd dump | wc -l
              kvsd dump --store usage --values > usage.jsonl
            """)

    @Flag(help: "Print values in base64.") var values = false
    @Option(help: "Print only this store.") var store: String?
    @OptionGroup var data: DataOption

    private struct Line: Encodable {
        var account: String
        var store: String
        var key: String
        var stamp: String
        var seq: UInt64
        var deleted: Bool?
        var byteCount: Int?
        var value: Data?
    }

    func run() throws {
        for (id, hub) in try data.directory.openExistingLedger().hubs
        where store == nil || store == id.name {
            for entry in hub.entries.values.sorted(by: { $0.sequence < $1.sequence }) {
                var line = Line(
                    account: id.account, store: id.name, key: entry.record.key.text,
                    stamp: entry.record.stamp.description, seq: entry.sequence)
                switch entry.record.content {
                case .tombstone: line.deleted = true
                case .value(let data):
                    line.byteCount = data.count
                    if values { line.value = data }
                }
                try Console.write(WireJSON.encode(line) + Data("\n".utf8))
            }
        }
    }
}

extension DataDirectory {
    /// Opens the data of a stopped daemon; none can start while the ledger exists.
    func openExistingLedger() throws -> Ledger {
        guard hasLog else {
            throw CommandFailure(
                .noInput, "\(path) contains no data of a daemon; use --data to name the directory")
        }
        return try openLedger()
    }
}

extension Ledger {
    var hubs: [(StoreID, Hub)] {
        allStores.compactMap { id in hub(id).map { (id, $0) } }
    }
}
