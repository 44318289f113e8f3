import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Makes this machine a device of an account.",
        discussion: """
            Asks the daemon at URL whose the token is, and keeps both in a file that only you can read. \
            Without --token and --token-stdin the token is asked for on the terminal. Values that are \
            already stored here become part of the account; where it has the key, its value stays.
            """)

    @Argument(help: "The daemon's address, like http://127.0.0.1:8722.")
    var url: String

    @Option(help: "The token. Other users of this machine can see it while the command runs.")
    var token: String?

    @Flag(name: .customLong("token-stdin"), help: "Take the token from standard input.")
    var isTokenFromInput = false

    @Option(help: "What this machine calls itself; the daemon's name for it without this.")
    var name: String?

    @Flag(
        name: .customLong("insecure-allow-plain-http"),
        help: "Let the token and all values go over a network without encryption.")
    var isPlainTextAllowed = false

    @Option(name: .customLong("timeout"), help: "Seconds to wait for the daemon.")
    var timeoutSeconds = 10.0

    func validate() throws {
        guard token == nil || !isTokenFromInput else {
            throw ValidationError("Use --token or --token-stdin, not both.")
        }
        guard timeoutSeconds > 0, timeoutSeconds <= 600 else {
            throw ValidationError("--timeout takes more than 0 and at most 600 seconds.")
        }
    }

    func run() async throws {
        let environment = StoreEnvironment()
        let address = try address()
        let former = try? environment.credentials()
        let token = try accessToken()
        let identity = try await identity(address, token)
        let credentials = try credentials(address, token, identity)
        if let former {
            guard former.daemon == address, former.account == credentials.account else {
                throw CommandFailure(
                    .usage, "this machine is \(former) already; run kvs leave first")
            }
        }
        do {
            try environment.credentialsFile.write(credentials)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
        // Complete before anything is printed, since printing may end the command.
        let adoption =
            former == nil
            ? LocalReplicaAdoption.adopt(in: environment, credentials: credentials) : nil
        try Console.print(JoinWords.joined(credentials, scopes: identity.scopes))
        guard let adoption else { return }
        for line in JoinWords.lines(adoption) { try Console.print(line) }
        await download(adoption.moved)
    }

    private func address() throws(CommandFailure) -> DaemonAddress {
        let address: DaemonAddress
        do throws(DaemonAddress.Problem) {
            address = try DaemonAddress(url)
        } catch {
            throw CommandFailure(.usage, error.description)
        }
        guard address.isPrivate || isPlainTextAllowed else {
            throw CommandFailure(.usage, CredentialsProblem.plainText(address).description)
        }
        return address
    }

    private func accessToken() throws(CommandFailure) -> AccessToken {
        let text: String
        if let token {
            text = token
        } else if isTokenFromInput {
            text = String(decoding: try StandardStreams.readInput(byteCount: 4_096), as: UTF8.self)
        } else if StandardStreams.isInputTerminal {
            text = StandardStreams.readSecret(prompt: "Token for \(url): ") ?? ""
        } else {
            throw CommandFailure(
                .usage, "standard input is no terminal: give the token with --token-stdin")
        }
        guard let token = AccessToken(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CommandFailure(
                .usage, "that is no token: a token is one word of ASCII characters")
        }
        return token
    }

    private func identity(
        _ address: DaemonAddress, _ token: AccessToken
    ) async throws(CommandFailure) -> DaemonIdentity {
        let timeout = Duration.seconds(timeoutSeconds)
        let client = DaemonClient(
            address: address, token: token,
            timeouts: HTTPTimeouts(connect: min(.seconds(5), timeout), request: timeout))
        defer { client.close() }
        do throws(SyncTransportError) {
            return try await client.me()
        } catch {
            let status = ExitStatus(error)
            let next =
                status == .noPermission
                ? " (make a token for this machine where kvsd runs, then join again)" : ""
            throw CommandFailure(status, "join \(address): \(error)\(next)")
        }
    }

    private func credentials(
        _ address: DaemonAddress, _ token: AccessToken, _ identity: DaemonIdentity
    ) throws(CommandFailure) -> Credentials {
        do throws(CredentialsProblem) {
            return try Credentials(
                daemon: address, token: token, account: identity.account,
                deviceID: identity.deviceID, deviceName: name ?? identity.device,
                isPlainTextAllowed: !address.isPrivate)
        } catch {
            throw CommandFailure(name == nil ? .unavailable : .usage, "join \(address): \(error)")
        }
    }

    /// The first download, so that the next write of this machine replaces instead of giving way. Where it
    /// fails, the next command makes up for it.
    private func download(_ moved: [String]) async {
        for name in Set(moved + [StoreConfiguration.defaultStoreName]).sorted() {
            do throws(StoreError) {
                let opened = try OpenedStore(name: name, timeoutSeconds: timeoutSeconds)
                defer { opened.store.close() }
                _ = try await opened.synchronize(within: opened.timeout)
            } catch {
                Console.report("store \(name) has not been downloaded yet: \(error.reason)")
            }
        }
    }
}
