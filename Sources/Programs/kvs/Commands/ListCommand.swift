import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials
import TerminalText

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", _superCommandName: "kvs", abstract: "List the keys.")

    @Argument(help: "Only keys with this prefix.", completion: .storedKeys)
    var prefix = ""

    @Flag(name: [.short, .long], help: "Also print type, size and age.")
    var long = false

    @Flag(help: "Print key, type, size and modification time as a JSON array.")
    var json = false

    @Flag(help: "Fail unless the newest values have been received.")
    var fresh = false

    @OptionGroup var options: ValueOptions

    func run() async throws {
        let opened = try options.store.open()
        try await opened.refresh(isRequired: fresh)
        let values = try await options.values(of: opened, for: .reading(isFresh: fresh))
        defer { values.close() }
        let (found, problems) = try values.entries(withPrefix: prefix)
        let entries = found.map { KeyListing($0.key, $0.record, value: $0.value) }
        try show(entries)
        // The list is not complete.
        for problem in problems.dropLast() { Console.report(problem.description) }
        if let problem = problems.last { throw problem }
    }

    private func show(_ entries: [KeyListing]) throws {
        if json { return try Console.printJSON(entries, isIndented: true, dates: .exact) }
        let isTerminal = Console.isOutputTerminal
        let lines =
            long
            ? KeyListing.table(entries, now: Date())
            : entries.map { isTerminal ? VisibleText.escape($0.key) : $0.key }
        try Console.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}

/// A key without its value.
private struct KeyListing: Encodable {
    var key: String
    var type: String
    var bytes: Int
    /// By the clock that all devices share.
    var modified: Date

    init(_ key: String, _ record: StoreRecord, value: PropertyListValue?) {
        self.key = key
        type = value.map { ValueType($0).rawValue } ?? StoredValue.bytesType
        bytes = record.content.byteCount
        modified = Date(timeIntervalSince1970: Double(record.stamp.milliseconds) / 1_000)
    }

    static func table(_ entries: [KeyListing], now: Date) -> [String] {
        guard !entries.isEmpty else { return [] }
        var table = TextTable(columns: [
            .init("KEY"), .init("TYPE"), .init("BYTES", alignment: .trailing),
            .init("SET"),
        ])
        for entry in entries {
            table.append([
                entry.key, entry.type, String(entry.bytes), DurationFormatter.age(of: entry.modified, at: now),
            ])
        }
        return table.lines()
    }
}
