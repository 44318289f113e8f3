import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials
import KVStoreHTTP

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", _superCommandName: "kvs", abstract: "Print the value of a key.",
        discussion: """
            On a terminal the value is formatted for reading. To a file or a pipe, and with --raw, its \
            exact bytes are written: data unchanged, strings as UTF-8 without a trailing newline, \
            other values as text. So are bytes that are not a binary property list, such as a script's, \
            whose type is "bytes".

            The value is the one that this machine has: 'kvs sync', 'kvs watch' or another program that \
            keeps the store open receives newer ones, and so does --fresh.

            What this machine has is also sent to a daemon that has lost it, before --fresh shows it. So the \
            values of a test outlive an emulator: to begin with nothing, reset its world, or set another \
            UBIQUITY_DATA_DIR.
            """)

    @Argument(help: "The key.", completion: .storedKeys)
    var key: String

    @Flag(help: "Print the exact bytes even on a terminal.")
    var raw = false

    @Flag(help: "Print key, type, value and size as one line of JSON.")
    var json = false

    @Flag(help: "Receive the newest value first; fail if the daemon does not answer.")
    var fresh = false

    @OptionGroup var options: ValueOptions

    func validate() throws {
        if raw, json { throw ValidationError("--raw cannot be combined with --json") }
    }

    func run() async throws {
        let opened = try await options.store.openToRead(isFresh: fresh)
        let values = try await options.values(of: opened, for: .reading(isFresh: fresh))
        defer { values.close() }
        guard let bytes = try values.bytes(forKey: key) else {
            let hasAsked = opened.isOnline && opened.store.status.initialSyncCompleted
            let mayAsk = !options.store.isLocalOnly && StoreEnvironment().isJoined
            throw CommandFailure(
                .failure,
                "no value for key \(key) in store \(options.store.storeName)"
                    + (mayAsk && !hasAsked ? "; add --fresh to ask the daemon first" : ""))
        }
        if json { return try Console.printJSON(KeyDocument(key: key, bytes: bytes)) }
        try Self.print(bytes, isRaw: raw)
    }

    private static func print(_ bytes: Data, isRaw: Bool = false) throws {
        let value = try? PropertyListValue(encoded: bytes)  // Other bytes are shown as they are.
        if isRaw || !Console.isOutputTerminal { return try Console.write(value?.rawBytes ?? bytes) }
        for line in ReadableValue.lines(value ?? .data(bytes)) { try Console.print(line) }
    }

    /// Prints a value that this machine has, if the arguments are 'get KEY'. Parsing them and starting the threads of
    /// asynchronous commands would take longer than reading.
    ///
    /// - Returns: false if nothing was printed: then the command says why, or asks the daemon.
    static func printsAtOnce(_ arguments: [String]) throws -> Bool {
        let isPlain =
            arguments.count == 2 && arguments[0] == configuration.commandName && !arguments[1].hasPrefix("-")
        let name = StoreConfiguration.defaultStoreName
        guard isPlain,
            // The command says why.
            let opened = try? OpenedStore.received(name: name, timeoutSeconds: 0)
        else { return false }
        let values = StoreValues(store: opened.store)
        defer { values.close() }
        // The command says why.
        guard let bytes = try? values.bytes(forKey: arguments[1]) else { return false }
        try print(bytes)
        return true
    }
}

/// One key as `get --json` prints it.
private struct KeyDocument: Encodable {
    var key: String
    var bytes: Data

    private enum CodingKeys: String, CodingKey { case key, bytes }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(StoreRecord.Content.value(bytes).quotaByteCount, forKey: .bytes)
        try StoredValue(bytes).encode(to: encoder)
    }
}
