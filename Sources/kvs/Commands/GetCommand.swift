import ArgumentParser
import CommandSupport
import Foundation
import KVStore

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the value of a key.",
        discussion: """
            On a terminal the value is laid out for reading. Into a file or a pipe, and with --raw, go \
            its exact bytes: data as it is, text as UTF-8 without a line feed, other values as text.
            """)

    @Argument(help: "The key.", completion: .storedKeys)
    var key: String

    @Flag(help: "Print the exact bytes, also on a terminal.")
    var raw = false

    @Flag(help: "Print key, type, value and bytes as one line of JSON.")
    var json = false

    @Flag(help: "Fail unless the daemon has been asked for the newest value.")
    var fresh = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard !(raw && json) else { throw ValidationError("Use --raw or --json, not both.") }
    }

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        guard let value = opened.store.value(forKey: key) else {
            throw CommandFailure(
                .failure, "no value for key \(key) in store \(options.storeName)")
        }
        if json {
            try Console.write(JSONOutput.data(KeyDocument(key: key, value: value)))
        } else if raw || !Console.isOutputTerminal {
            try Console.write(RawValue.bytes(value))
        } else {
            for line in ReadableValue.lines(value) { try Console.print(line) }
        }
    }
}

/// One key as `get --json` prints it.
struct KeyDocument: Encodable {
    var key: String
    var value: PropertyListValue

    private enum CodingKeys: String, CodingKey { case key, bytes }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(value.byteCount, forKey: .bytes)
        try TypedValue(value).encode(to: encoder)
    }
}
