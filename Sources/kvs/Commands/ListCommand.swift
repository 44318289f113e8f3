import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import TerminalText

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists the keys.")

    @Argument(help: "Only keys that start with this.", completion: .storedKeys)
    var prefix = ""

    @Flag(name: [.short, .long], help: "Also print type, bytes and when it was set.")
    var long = false

    @Flag(help: "Print key, type, bytes and when it was set as a JSON array.")
    var json = false

    @Flag(help: "Fail unless the daemon has been asked for the newest values.")
    var fresh = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        let entries = opened.store.keys.filter { $0.hasPrefix(prefix) }.compactMap { key in
            opened.store.record(forKey: key).map {
                KeyListing($0, value: opened.store.value(forKey: key))
            }
        }
        if json {
            try Console.write(JSONOutput.data(entries, isIndented: true))
        } else if long {
            for line in KeyListing.table(entries, now: Date()) { try Console.print(line) }
        } else {
            let isTerminal = Console.isOutputTerminal
            let lines = entries.map { isTerminal ? VisibleText.escape($0.key) : $0.key }
            try Console.write(Data(lines.map { $0 + "\n" }.joined().utf8))
        }
    }
}

/// A key in a list: what it holds without the value.
struct KeyListing: Encodable, Equatable {
    var key: String
    /// Nil where the stored bytes are no property list.
    var type: ValueType?
    var bytes: Int
    /// ISO 8601, by the clock that all devices share.
    var modified: String
    private var milliseconds: Int64

    private enum CodingKeys: String, CodingKey { case key, type, bytes, modified }

    init(_ record: Record, value: PropertyListValue?) {
        key = record.key
        type = value.map(ValueType.init)
        bytes = record.content.byteCount
        milliseconds = record.stamp.milliseconds
        modified = DateText.text(Self.date(milliseconds))
    }

    static func table(_ entries: [KeyListing], now: Date) -> [String] {
        guard !entries.isEmpty else { return [] }
        var table = TextTable(columns: [
            .init("KEY", isFlexible: true), .init("TYPE"), .init("BYTES", alignment: .trailing),
            .init("SET"),
        ])
        for entry in entries {
            table.append([
                entry.key, entry.type?.rawValue ?? "unknown", String(entry.bytes),
                DurationFormatter.age(of: date(entry.milliseconds), at: now),
            ])
        }
        return table.lines()
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
