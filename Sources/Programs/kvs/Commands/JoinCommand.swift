import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join this machine to an account.",
        discussion: """
            Without an argument, this machine joins your own kvsd that runs on it. With the line that \
            kvsd pair prints, it becomes a device of the account, and from then on talks only to a daemon \
            with the key of that line. With a URL, the daemon is asked which account a token belongs to; \
            it is prompted for, or read from standard input if that is not a terminal. \
            Who joins the same account again replaces the device that this machine was. \
            Either way the token is stored in a file that only you can read. Values already stored on \
            this machine become part of the account; keys that it already has keep its values.

            Examples:

              kvs join
              kvs join 'ubiquity://…'
              kvs join - < line                         other users cannot see it
              kvs join https://kv.example.org < token
            """)

    @Argument(help: "The line of kvsd pair, - to read it from standard input, or the URL of a daemon.")
    var address: String?

    @Option(help: "The token. Other users of this machine can see it while the command runs.")
    var token: String?

    @Flag(name: .customLong("token-stdin"), help: "Read the token from standard input even if that is a terminal.")
    var isTokenFromInput = false

    @Option(help: "Name of this device; by default the one it had, or the host's. With a token it is the token's.")
    var name: String?

    @Flag(
        name: .customLong("insecure-allow-plain-http"),
        help: "Allow sending the token and all values over a network unencrypted.")
    var isPlainTextAllowed = false

    @OptionGroup var timeout: TimeoutOption

    func validate() throws {
        if token != nil, isTokenFromInput { throw ValidationError("--token cannot be combined with --token-stdin") }
        if token != nil || isTokenFromInput, address.map({ $0 == "-" || PairingLine.isOne($0) }) ?? true {
            throw ValidationError("a token belongs to the URL of a daemon")
        }
    }

    func run() async throws {
        let environment = StoreEnvironment()
        try environment.checkJoining("join")
        let address = try givenAddress()
        let line = try pairingLine(environment, address)
        let daemon = try DaemonAddress(line?.url ?? address ?? "")
        guard daemon.isPrivate || isPlainTextAllowed else { throw CredentialsError.plainText(daemon) }
        let former = try? environment.credentials()  // Unreadable ones are replaced.
        // A code must not be used up for nothing.
        if let former, former.daemon != daemon { throw Self.hasJoined(former) }
        let joining = JoiningDevice(
            daemon: daemon, name: name, isPlainTextAllowed: isPlainTextAllowed, timeout: timeout.limit)
        let (credentials, scopes) =
            if let line {
                try await joining.pair(line, former: former)
            } else {
                try await joining.join(with: try accessToken())
            }
        if let former, former.account != credentials.account { throw Self.hasJoined(former) }
        // Before the credentials: programs that are open follow these at once, and would create the account's replicas.
        let adoption =
            former == nil
            ? LocalReplicaAdoption.adopt(in: environment, credentials: credentials) : nil
        do {
            try environment.credentialsFile.write(credentials)
        } catch {
            let stranded = adoption?.revert(in: environment, credentials: credentials) ?? []
            let directories = stranded.map {
                environment.replicaDirectory(storeNamed: $0, credentials: credentials)
            }
            throw CommandFailure(
                .cannotCreate,
                error.description
                    + (stranded.isEmpty
                        ? ""
                        : "; local values cannot be moved back from " + directories.joined(separator: ", ")))
        }
        if let former { await joining.replace(former, by: credentials) }
        try Console.print(JoinMessages.joined(credentials, scopes: scopes))
        for line in adoption.map(JoinMessages.lines) ?? [] { try Console.print(line) }
        if adoption != nil || line != nil {
            try await FirstDownload(credentials: credentials, timeoutSeconds: timeout.seconds)
                .run(besides: adoption?.moved ?? [])
        }
    }

    private static func hasJoined(_ former: Credentials) -> CommandFailure {
        CommandFailure(.usage, "this machine has already joined as \(former); run ubq leave (or kvs leave) first")
    }

    private func givenAddress() throws -> String? {
        guard address == "-" else { return address.map { PairingLine.candidate(in: $0) ?? $0 } }
        let input = String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self)
        guard let line = PairingLine.candidate(in: input) else {
            throw CommandFailure(.usage, "standard input is not the line of ubq up or kvsd pair")
        }
        return line
    }

    /// Nil for the URL of a daemon.
    private func pairingLine(_ environment: StoreEnvironment, _ address: String?) throws -> PairingLine? {
        guard let address else {
            guard let line = try environment.localDaemon() else {
                throw CommandFailure(
                    .unavailable,
                    "no kvsd of yours is running on this machine; start it with ubq up or kvsd serve, or give the "
                        + "line that ubq up or kvsd pair prints where it runs")
            }
            return line
        }
        guard PairingLine.isOne(address) else { return nil }
        guard let line = PairingLine(address) else {
            throw CommandFailure(.usage, PairingLine.incomplete)
        }
        return line
    }

    private func accessToken() throws(CommandFailure) -> AccessToken {
        let text: String
        if let token {
            text = token
        } else if isTokenFromInput || !Console.isInputTerminal {
            text = String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self)
        } else {
            text = InputOutput.readSecret(prompt: "Token for \(address ?? ""): ") ?? ""
        }
        guard !text.trimmed().isEmpty else {
            throw CommandFailure(.usage, "no token was given; write it to standard input")
        }
        guard let token = AccessToken(text.trimmed()) else {
            throw CommandFailure(.usage, "invalid token: expected ASCII characters without spaces")
        }
        return token
    }
}
