import ArgumentParser
import Commands
import Essentials
import KVStoreCore
import KVStoreLedger
import KVStoreServer

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print all records, one JSON object per line.",
        discussion: """
            Prints only the sizes of values without --values. Works beside running daemons and changes \
            nothing. If records are damaged, prints the intact ones and exits with 74.

              kvsd dump | wc -l
              kvsd dump --store usage --values > usage.jsonl
            """)

    @Flag(help: "Print values in base64.") var values = false
    @Option(help: "Print only this store.") var store: String?
    @OptionGroup var storage: StorageOption

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
        let failure = try storage.readStores { found in
            let (id, hub) = (found.id, found.hub)
            guard store == nil || store == id.name else { return }
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
                try Console.printJSON(line)
            }
        }
        if let failure { throw failure }
    }
}
