import Essentials
import ArgumentParser
import Commands
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

            With --page, it prints an address that signs in a browser, on a phone for example. The page may \
            look, and with --write change keys.
            """)

    @Flag(help: "Print an address that signs in a browser.") var page = false
    @Flag(help: "Let the page change keys.") var write = false

    @Option(help: "Name of the device; by default the one it proposes.") var name: String?
    @Flag(help: "Refuse writes of the device.") var readOnly = false
    @Option(help: "Show the device only this store; repeatable.") var store: [String] = []
    @OptionGroup var timeout: TimeoutOption

    func validate() throws {
        if write, !page { throw ValidationError("--write is for --page: programs may write") }
        if page, readOnly { throw ValidationError("--read-only is for programs: a page may write only with --write") }
    }

    func run() async throws {
        let account = try JoinedAccount(
            timeout: timeout, to: "pair \(name.map { "device \($0)" } ?? "a device")", onServer: "kvsd pair")
        defer { account.close() }
        guard account.credentials.daemon.scheme != .unix else {
            throw CommandFailure(
                .configuration,
                "this machine knows the daemon only by its socket, which others cannot use; run ubq phone, ubq up or kvsd pair"
            )
        }
        guard !page || account.credentials.daemon.isPrivate else {
            throw CommandFailure(
                .configuration,
                "a browser cannot sign in at \(account.credentials.daemon), as it keeps the cookie only over TLS; "
                    + "run kvsd pair --page --url https://… on the server")
        }
        let code = try await account.perform { client throws(SyncTransportError) in
            try await client.makePairingCode(
                name: name, isReadOnly: page ? !write : readOnly, stores: store.isEmpty ? nil : store, isPage: page)
        }
        let credentials = account.credentials
        let url = credentials.daemon.description
        let line = PairingLine(url: url, code: code, key: credentials.key)
        try Console.printScannable(page ? code.pageURL(of: url) : line.text)
        Console.note(
            "Valid once, for ten minutes. "
                + (page
                    ? "Open it in a browser, or scan it with a phone's camera."
                    : "On the other machine: kvs join 'LINE'"))
        if credentials.daemon.isLoopback {
            Console.note("Other machines cannot reach the loopback address in the line; for them, run kvsd pair")
        }
    }
}
