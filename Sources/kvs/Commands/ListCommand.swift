import ArgumentParser
import CommandSupport
import Essentials
import KVStoreDocuments
import KVStoreEssentials
import KVStoreSealed
import TerminalText

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List the keys.")

    @Argument(help: "Only keys with this prefix.", completion: .storedKeys)
    var prefix = ""

    @Flag(name: [.short, .long], help: "Also print type, size and age.")
    var long = false

    @Flag(help: "Print key, type, size and modification time as a JSON array.")
    var json = false

    @Flag(help: "Fail unless the newest values have been received.")
    var fresh = false

    @OptionGroup var sealing: SealedOption
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        let entries = try await sealing.sealed ? sealedEntries(opened) : entries(opened.store)
        if json { return try Console.printJSON(entries, isIndented: true, dates: .exact) }
        let isTerminal = Console.isOutputTerminal
        let lines =
            long
            ? KeyListing.table(entries, now: Date())
            : entries.map { isTerminal ? VisibleText.escape($0.key) : $0.key }
        try Console.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }

    private func entries(_ store: UbiquitousKeyValueStore) -> [KeyListing] {
        store.keys.filter { $0.hasPrefix(prefix) }.compactMap { key in
            store.record(forKey: key).map {
                KeyListing(key, $0, value: store.propertyList(forKey: key))
            }
        }
    }

    private func sealedEntries(_ opened: OpenedStore) async throws -> [KeyListing] {
        let session = try await SealedSession(options, for: .reading(isFresh: fresh))
        defer { session.close() }
        let contents = try session.values(of: opened).contents()
        for problem in contents.problems { Console.report(problem.description) }
        return contents.entries.filter { $0.key.hasPrefix(prefix) }.compactMap { key, entry in
            opened.store.record(forKey: entry.storedKey).map {
                KeyListing(key, $0, value: entry.value)
            }
        }.sorted { $0.key < $1.key }
    }
}

/// A key without its value.
private struct KeyListing: Encodable {
    var key: String
    var type: String
    var bytes: Int
    /// By the clock that all devices share.
    var modified: Date

    init(_ key: String, _ record: Record, value: PropertyListValue?) {
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
                entry.key, entry.type, String(entry.bytes),
                DurationFormatter.age(of: entry.modified, at: now),
            ])
        }
        return table.lines()
    }
}
