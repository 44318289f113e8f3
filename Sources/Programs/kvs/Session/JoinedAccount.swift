import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

/// The daemon of the joined account, asked about its devices by one command. Every failure names the next step.
struct JoinedAccount {
    let credentials: Credentials
    private let client: DaemonClient
    /// What the command does, for errors: "remove device phone".
    private let purpose: String
    /// The command that does the same on the server.
    private let equivalent: String

    init(timeout: TimeoutOption, to purpose: String, onServer equivalent: String) throws {
        guard let credentials = try StoreEnvironment().credentials() else {
            throw CommandFailure(
                .configuration, "cannot \(purpose): no account has been joined; run \(StoreError.rejoining)")
        }
        self.credentials = credentials
        self.purpose = purpose
        self.equivalent = equivalent
        client = DaemonClient(credentials, timeouts: HTTPTimeouts(within: timeout.limit))
    }

    func close() { client.close() }

    /// The id of this machine's device; the daemon is asked if the environment has only the token.
    func deviceID() async throws(CommandFailure) -> String {
        guard credentials.isFromEnvironment else { return credentials.deviceID }
        return try await perform { client throws(SyncTransportError) in
            try await client.me().deviceID
        }
    }

    func devices() async throws(CommandFailure) -> AccountDevices.Answer {
        try await perform { client throws(SyncTransportError) in
            try await AccountDevices(credentials).ask(client)
        }
    }

    /// The devices, or those that the daemon listed last if it is unreachable, and reports that.
    ///
    /// - Parameter isFresh: whether only the daemon's answer counts.
    func devices(isFresh: Bool) async throws(CommandFailure) -> (AccountDevices.Answer, isCurrent: Bool) {
        let devices = AccountDevices(credentials)
        do throws(SyncTransportError) {
            return (try await devices.ask(client), true)
        } catch {
            guard !isFresh, error.isOutage, let last = devices.lastAnswer else { throw failure(error) }
            let age = DurationFormatter.age(of: last.received, at: Date())
            Console.report("\(error); showing the devices as listed \(age)")
            return (last, false)
        }
    }

    /// The device with this id, or else with this name.
    func device(_ text: String) async throws(CommandFailure) -> DaemonDevice {
        let devices = try await devices().devices
        let found = devices.first { $0.deviceID == text } ?? devices.first { $0.device == text }
        guard let found else {
            throw CommandFailure(.failure, "cannot \(purpose): the account has no such device; see kvs device list")
        }
        return found
    }

    func perform<Value>(
        _ body: (DaemonClient) async throws(SyncTransportError) -> Value
    ) async throws(CommandFailure) -> Value {
        do throws(SyncTransportError) {
            return try await body(client)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SyncTransportError) -> CommandFailure {
        let hint: String? =
            switch error {
            case .refused(403, "no-admin", _):
                "run \(equivalent) on the server, or pair this machine again with " + "the line of kvsd pair --admin"
            case .refused(404, "unknown-path", _), .refused(400, "unexpected-body", _):
                "update kvsd: it is too old to administer devices"
            case .refused(409, "duplicate-device-name", _), .refused(400, "bad-device-name", _): "choose another name"
            case .refused(404, "unknown-device", _): "see kvs device list"
            default: nil
            }
        let status: ExitStatus =
            switch error {
            case .refused(409, _, _), .refused(400, "bad-device-name", _),
                .refused(400, "bad-store-name", _):
                .usage
            case .refused(404, "unknown-device", _): .failure
            default: error.exitStatus
            }
        let reason = if case .unauthorized = error { StoreError.removalAdvice } else { error.description }
        return CommandFailure(status, "cannot \(purpose): \(reason)" + (hint.map { "; \($0)" } ?? ""))
    }
}

extension SyncTransportError {
    /// Whether another attempt may succeed without any change here.
    fileprivate var isOutage: Bool {
        switch self {
        case .unreachable, .busy, .refused(500..., _, _): true
        case .refused, .unauthorized, .malformed: false
        }
    }
}

extension HTTPTimeouts {
    /// For a command that may take as long as `limit`.
    init(within limit: Duration) {
        self.init(connect: min(.seconds(5), limit), request: limit)
    }
}
