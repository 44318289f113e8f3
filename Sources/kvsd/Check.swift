import ArgumentParser
import Foundation
import KVStore
import KVStoreServer

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read every record of a daemon that is stopped, and report.",
        discussion: """
            Every record is read and its checksum compared. Ends with 0 when all is whole, with 74 and
            the file and offset when something is damaged, with 75 when a daemon uses the folder.

              kvsd check
              kvsd check /srv/ubiquity
            """)

    @Argument(help: "Folder with the daemon's data.") var directory: String?
    @OptionGroup var data: DataOption

    func run() throws {
        let found = try StoppedDaemon.open(DataDirectory(directory ?? data.data))
        print("\(found.directory.logPath): \(found.ledger.recovery.frameCount) records, all whole")
        for cut in found.ledger.recovery.cutWrites {
            print("cut: \(cut.detail), at byte \(cut.offset) of \(cut.path)")
        }
        for id in found.stores {
            guard let hub = found.ledger.hub(id) else { continue }
            print(
                "\(id.account)/\(id.name): \(hub.keyCount) keys, \(hub.byteCount) bytes, "
                    + "sequence \(hub.sequence), epoch \(hub.epoch)")
        }
        try found.close()
    }
}

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the records of a daemon that is stopped, one JSON object a line.",
        discussion: """
            Without --values only the sizes of values are printed.

              kvsd dump | wc -l
              kvsd dump --store usage --values > usage.jsonl
            """)

    @Flag(help: "Print values too, in base64.") var values = false
    @Option(help: "Only this store.") var store: String?
    @OptionGroup var data: DataOption

    private struct Line: Encodable {
        var account: String
        var store: String
        var key: String
        var stamp: String
        var seq: UInt64
        var deleted: Bool?
        var byteCount: Int?
        var value: String?
    }

    func run() throws {
        let found = try StoppedDaemon.open(data.directory)
        for id in found.stores where store == nil || store == id.name {
            guard let hub = found.ledger.hub(id) else { continue }
            for entry in hub.entries.values.sorted(by: { $0.sequence < $1.sequence }) {
                var line = Line(
                    account: id.account, store: id.name, key: entry.record.key,
                    stamp: entry.record.stamp.description, seq: entry.sequence)
                switch entry.record.content {
                case .tombstone: line.deleted = true
                case .value(let data):
                    line.byteCount = data.count
                    if values { line.value = data.base64EncodedString() }
                }
                print(String(decoding: WireJSON.encode(line), as: UTF8.self))
            }
        }
        try found.close()
    }
}
