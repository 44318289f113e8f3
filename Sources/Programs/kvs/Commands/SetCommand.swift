import ArgumentParser
import KVStoreEssentials

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", _superCommandName: "kvs", abstract: "Set the value of a key.",
        discussion: """
            The value is durable on this machine when the command ends, even if the daemon is \
            unreachable; it is then synced later. With --json, numbers without a fraction become \
            integers and others doubles; null cannot be stored.
            """)

    @Argument(help: "The key.", completion: .storedKeys)
    var key: String

    @OptionGroup var source: ValueSource

    @Flag(help: "Fail with 75 unless the daemon has accepted the value.")
    var requireSync = false

    @OptionGroup var options: ValueOptions

    func run() async throws {
        let value = try source.value(limits: StoreLimits())
        let opened = try options.store.open()
        await opened.prepareWrite()
        let values = try await options.values(of: opened)
        defer { values.close() }
        try values.write(value, forKey: key)
        try await opened.finishWrite(isSyncRequired: requireSync, of: values.storedKeys(of: [key]))
    }
}
