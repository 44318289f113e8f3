import ArgumentParser
import KVStore

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets the value of a key.",
        discussion: """
            The value is safe on this machine when the command ends, also when the daemon cannot be \
            reached; it is sent later then. With --json a whole number becomes an integer, another one a \
            double; null cannot be stored.
            """)

    @Argument(help: "The key.", completion: .storedKeys)
    var key: String

    @OptionGroup var source: ValueSource

    @Flag(help: "Fail with 75 unless the daemon has taken the value.")
    var requireSync = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let value = try source.value(limits: StoreLimits())
        let opened = try options.open()
        defer { opened.store.close() }
        await opened.prepareWrite()
        try opened.store.write(value, forKey: key)
        try await opened.finishWrite(isSyncRequired: requireSync)
    }
}
