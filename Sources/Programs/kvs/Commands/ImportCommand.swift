import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Set the keys of an exported document.",
        discussion: """
            The whole document is checked before the first key is set. Keys that are not in it are \
            unchanged. Of an export of the emulator, the store that --store names is imported, or the \
            only one.
            """)

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Check everything and print what would be set.")
    var dryRun = false

    @Flag(help: "Fail with 75 unless the daemon has accepted the values.")
    var requireSync = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let limit = ExportDocument.byteLimit
        let data =
            file == "-"
            ? try InputOutput.readInput(byteCount: limit)
            : try InputOutput.readFile(file, byteCount: limit)
        let document = try ExportDocument.decode(
            data, from: file == "-" ? "standard input" : file, store: options.storeName)
        let opened = try options.open()
        defer { opened.store.close() }
        if !dryRun { await opened.prepareWrite() }
        var current: [StoreKey: PropertyListValue] = [:]
        for key in opened.store.keys {
            current[StoreKey(key)] = opened.store.propertyList(forKey: key)
        }
        let plan = try ImportPlan(document, into: current, limits: StoreLimits())
        let counts =
            "\(plan.newKeyCount) new, \(plan.changedKeyCount) changed, "
            + "\(plan.unchangedKeyCount) unchanged"
        guard !dryRun else { return try Console.print("would set: \(counts)") }
        try opened.store.write(Dictionary(plan.writes.map { ($0.key, $0.value) }) { $1 })
        // A failure to print must not keep the values from being synced.
        let printing = Result { () throws(OutputError) in try Console.print(counts) }
        try await opened.finishWrite(isSyncRequired: requireSync)
        try printing.get()
    }
}
