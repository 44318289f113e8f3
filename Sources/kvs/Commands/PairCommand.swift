import ArgumentParser
import CommandSupport
import KVStoreEssentials
import KVStoreHTTP

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Print a line with which another machine joins the account, once.",
        discussion: """
            The line contains the address and key of the daemon as this machine knows them, and a code that \
            adds one device within ten minutes. This machine needs the scope admin. The new device may do \
            no more than this one, and is no administrator. Run on the other machine:

              kvs join 'ubiquity://…'
            """)

    @Option(help: "Name of the device; by default the one it proposes.") var name: String?
    @Flag(help: "Refuse writes of the device.") var readOnly = false
    @Option(help: "Show the device only this store; repeatable.") var store: [String] = []
    @OptionGroup var timeout: TimeoutOption

    func run() async throws {
        let account = try JoinedAccount(
            timeout: timeout, to: "pair \(name.map { "device \($0)" } ?? "a device")",
            onServer: "kvsd pair")
        defer { account.close() }
        guard account.credentials.daemon.scheme != .unix else {
            throw CommandFailure(
                .configuration,
                "this machine knows the daemon only by its socket, which others cannot use; run kvsd pair"
            )
        }
        let code = try await account.perform { client throws(SyncTransportError) in
            try await client.makePairingCode(
                name: name, isReadOnly: readOnly, stores: store.isEmpty ? nil : store)
        }
        let credentials = account.credentials
        let line = PairingLine(
            url: credentials.daemon.description, code: code, key: credentials.key)
        try Console.printScannable(line.text)
        Console.note("Valid once, for ten minutes. On the other machine: kvs join 'LINE'")
        if credentials.daemon.isLoopback {
            Console.note(
                "Other machines cannot reach the loopback address in the line; for them, run kvsd pair"
            )
        }
    }
}
