import ArgumentParser
import CommandSupport
import Essentials
import KVStoreEssentials
import KVStoreHTTP

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join this machine to an account.",
        discussion: """
            Asks the daemon which account the token belongs to, and stores both in a file that only \
            you can read. Prompts for the token unless --token or --token-stdin is given. Values \
            already stored on this machine become part of the account; keys that it already has keep \
            its values.
            """)

    @Argument(help: "Address of the daemon, such as http://127.0.0.1:8722.")
    var url: String

    @Option(help: "The token. Other users of this machine can see it while the command runs.")
    var token: String?

    @Flag(name: .customLong("token-stdin"), help: "Read the token from standard input.")
    var isTokenFromInput = false

    @Option(help: "Name of this device; by default the one the daemon has for it.")
    var name: String?

    @Flag(
        name: .customLong("insecure-allow-plain-http"),
        help: "Allow sending the token and all values over a network unencrypted.")
    var isPlainTextAllowed = false

    @OptionGroup var timeout: TimeoutOption

    func validate() throws {
        if token != nil, isTokenFromInput {
            throw ValidationError("--token cannot be combined with --token-stdin")
        }
    }

    func run() async throws {
        let environment = StoreEnvironment()
        let address = try DaemonAddress(url)
        guard address.isPrivate || isPlainTextAllowed else {
            throw CredentialsError.plainText(address)
        }
        let former = try? environment.credentials()
        let token = try accessToken()
        let identity = try await identity(address, token)
        let credentials = try credentials(address, token, identity)
        if let former, former.daemon != address || former.account != credentials.account {
            throw CommandFailure(
                .usage, "this machine has already joined as \(former); run kvs leave first")
        }
        do {
            try environment.credentialsFile.write(credentials)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
        // Complete before anything is printed, because a failure to print ends the command.
        let adoption =
            former == nil
            ? LocalReplicaAdoption.adopt(in: environment, credentials: credentials) : nil
        try Console.print(JoinMessages.joined(credentials, scopes: identity.scopes))
        guard let adoption else { return }
        for line in JoinMessages.lines(adoption) { try Console.print(line) }
        await download(adoption.moved)
    }

    private func accessToken() throws(CommandFailure) -> AccessToken {
        let text: String
        if let token {
            text = token
        } else if isTokenFromInput {
            text = String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self)
        } else if Console.isInputTerminal {
            text = InputOutput.readSecret(prompt: "Token for \(url): ") ?? ""
        } else {
            throw CommandFailure(
                .usage,
                "cannot prompt for the token: standard input is not a terminal; use --token-stdin")
        }
        guard let token = AccessToken(text.trimmed()) else {
            throw CommandFailure(.usage, "invalid token: expected ASCII characters without spaces")
        }
        return token
    }

    private func identity(
        _ address: DaemonAddress, _ token: AccessToken
    ) async throws(CommandFailure) -> DaemonIdentity {
        let limit = Duration.seconds(timeout.seconds)
        let client = DaemonClient(
            address: address, token: token,
            timeouts: HTTPTimeouts(connect: min(.seconds(5), limit), request: limit))
        defer { client.close() }
        do throws(SyncTransportError) {
            return try await client.me()
        } catch {
            let status = ExitStatus(error)
            let hint =
                status == .noPermission
                ? "; run kvsd device add NAME where kvsd runs, and join with its token" : ""
            throw CommandFailure(status, "cannot join \(address): \(error)\(hint)")
        }
    }

    private func credentials(
        _ address: DaemonAddress, _ token: AccessToken, _ identity: DaemonIdentity
    ) throws(CommandFailure) -> Credentials {
        do throws(CredentialsError) {
            return try Credentials(
                daemon: address, token: token, account: identity.account,
                deviceID: identity.deviceID, deviceName: name ?? identity.device,
                isPlainTextAllowed: !address.isPrivate)
        } catch {
            throw CommandFailure(
                name == nil ? .unavailable : .usage, "cannot join \(address): \(error)")
        }
    }

    /// The first download, so that this machine's next write replaces a value instead of yielding to it. If it
    /// fails, the next command makes up for it.
    private func download(_ moved: [String]) async {
        for name in Set(moved + [StoreConfiguration.defaultStoreName]).sorted() {
            do throws(StoreError) {
                let opened = try OpenedStore(name: name, timeoutSeconds: timeout.seconds)
                defer { opened.store.close() }
                try await opened.synchronize()
            } catch {
                Console.report("store \(name) has not been downloaded yet: \(error.reason)")
            }
        }
    }
}
