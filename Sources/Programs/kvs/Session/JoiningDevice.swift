import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

/// Obtains credentials from a daemon. Every failure names the next step.
struct JoiningDevice {
    let daemon: DaemonAddress
    /// The name that the user has chosen.
    let name: String?
    let isPlainTextAllowed: Bool
    let timeout: Duration

    private var timeouts: HTTPTimeouts { HTTPTimeouts(within: timeout) }

    /// Becomes a device by a code. The daemon's key is verified before the code is sent.
    ///
    /// - Parameter former: the device that this machine was before, whose name it keeps.
    func pair(
        _ line: PairingLine, former: Credentials?
    ) async throws(CommandFailure) -> (Credentials, scopes: [String]) {
        let client = DaemonClient(pairingWith: daemon, key: line.key, timeouts: timeouts)
        defer { client.close() }
        let device: PairedDevice
        do throws(SyncTransportError) {
            // Another key may be another daemon's, which must not get the token.
            device = try await client.pair(
                line.code, name: name ?? former?.deviceName ?? DeviceName.ofHost,
                former: former?.key == line.key ? former?.token : nil)
        } catch {
            throw failure(error)
        }
        let credentials = try credentials(
            device.token, key: line.key, account: device.account, id: device.id, name: device.name)
        return (credentials, device.scopes)
    }

    /// Becomes the device that a token belongs to.
    func join(with token: AccessToken) async throws(CommandFailure) -> (Credentials, scopes: [String]) {
        let client = DaemonClient(address: daemon, token: token, timeouts: timeouts)
        defer { client.close() }
        let identity: DaemonIdentity
        do throws(SyncTransportError) {
            identity = try await client.me()
        } catch {
            throw failure(error)
        }
        if let name, name != identity.device {
            Console.report(
                VisibleText.escape(
                    "the device is named \(identity.device): it got its name with the token; rename it with "
                        + "kvs device rename \(identity.deviceID) NAME"))
        }
        let credentials = try credentials(
            token, key: nil, account: identity.account, id: identity.deviceID, name: identity.device)
        return (credentials, identity.scopes)
    }

    /// Removes the device that this machine was before it joined the same account again: its token would stay valid.
    func replace(_ former: Credentials, by present: Credentials) async {
        guard former.deviceID != present.deviceID, !former.isFromEnvironment else { return }
        guard let failure = await former.removeDevice(timeouts) else { return }
        Console.report(
            VisibleText.escape(
                "the device \(former.deviceName) that this machine was before is still valid; remove it "
                    + "with kvs device remove \(former.deviceID) (\(failure))"))
    }

    private func failure(_ error: SyncTransportError) -> CommandFailure {
        let hint: String? =
            switch error {
            case .refused(_, "wrong-code", _), .refused(_, "used-code", _),
                .refused(_, "expired-code", _), .refused(_, "void-code", _):
                "run ubq up (or kvsd pair) where the daemon runs, and ubq join with the new line"
            case .refused(_, "page-code", _):
                "open the address that was printed with it in a browser, or run ubq up (or kvsd pair) there for a machine"
            case .refused(404, "unknown-path", _): "update kvsd: it is too old to pair devices"
            case .unauthorized, .refused(403, _, _): "run kvsd device add NAME where kvsd runs, and join with its token"
            default: nil
            }
        return CommandFailure(error.exitStatus, "cannot join \(daemon): \(error)" + (hint.map { "; \($0)" } ?? ""))
    }

    private func credentials(
        _ token: AccessToken, key: KeyFingerprint?, account: String, id: String, name deviceName: String
    ) throws(CommandFailure) -> Credentials {
        do throws(CredentialsError) {
            return try Credentials(
                daemon: daemon, token: token, key: key, account: account, deviceID: id,
                deviceName: deviceName, isPlainTextAllowed: !daemon.isPrivate)
        } catch {
            throw CommandFailure(name == nil ? .unavailable : .usage, "cannot join \(daemon): \(error)")
        }
    }
}

extension Credentials {
    /// Removes the device at the daemon, which makes its token worthless.
    ///
    /// - Returns: why the device is still there.
    func removeDevice(_ timeouts: HTTPTimeouts) async -> SyncTransportError? {
        let client = DaemonClient(self, timeouts: timeouts)
        defer { client.close() }
        do throws(SyncTransportError) {
            try await client.removeThisDevice()
            return nil
        } catch .unauthorized {
            // It has been removed already.
            return nil
        } catch {
            return error
        }
    }
}

enum DeviceName {
    /// The first label of the host's name, as far as a device may have it.
    static var ofHost: String {
        let label = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        let name = label.prefix(32).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        return name.isEmpty ? "device" : String(name)
    }
}

extension StoreEnvironment {
    /// Throws if the environment decides to which account this machine's stores belong.
    func checkJoining(_ verb: String) throws(CommandFailure) {
        guard namesDaemon else { return }
        throw CommandFailure(
            .configuration,
            "cannot \(verb): \(Self.daemonVariable) and \(Self.tokenVariable) in the environment decide on the "
                + "account; unset them first")
    }
}
