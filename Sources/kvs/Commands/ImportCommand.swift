import ArgumentParser
import CommandSupport
import Foundation
import KVStore

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Sets the keys of an exported document.",
        discussion: """
            The whole document is checked before the first key is set. Keys that it does not have stay. \
            FILE may be - for standard input.
            """)

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Check everything and print what would be done.")
    var dryRun = false

    @Flag(help: "Fail with 75 unless the daemon has taken the values.")
    var requireSync = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let name = file == "-" ? "standard input" : file
        let bytes =
            file == "-"
            ? try StandardStreams.readInput(byteCount: ExportDocument.byteLimit)
            : try StandardStreams.readFile(file, byteCount: ExportDocument.byteLimit)
        let document = try ExportDocument.decode(bytes, from: name)
        let opened = try options.open()
        defer { opened.store.close() }
        if !dryRun { await opened.prepareWrite() }
        var current: [String: PropertyListValue] = [:]
        for key in opened.store.keys { current[key] = opened.store.value(forKey: key) }
        let plan = try ImportPlan(document, into: current, limits: StoreLimits())
        let counts =
            "\(plan.newKeyCount) new, \(plan.changedKeyCount) changed, "
            + "\(plan.unchangedKeyCount) unchanged"
        guard !dryRun else { return try Console.print("would set: \(counts)") }
        for entry in plan.writes { try opened.store.write(entry.value, forKey: entry.key) }
        // Written and sent even where nobody can read the counts.
        let printing = Result { () throws(OutputError) in try Console.print(counts) }
        try await opened.finishWrite(isSyncRequired: requireSync)
        try printing.get()
    }
}
