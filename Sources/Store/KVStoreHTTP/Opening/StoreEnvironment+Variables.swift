import Essentials
import KVStoreEssentials
import KVStoreWire
import LocalFiles

/// The variables that name a daemon and a device of it, instead of the account that was joined: for tests and
/// containers.
extension StoreEnvironment {
    /// The URL of a daemon, or `emulator` for this user's emulator that was started last.
    public static let daemonVariable = "UBIQUITY_DAEMON"
    /// The token for that daemon.
    public static let tokenVariable = "UBIQUITY_TOKEN"
    /// Beside both, the fingerprint of the only key that the daemon may have; without it, the authorities that the
    /// system trusts count.
    public static let keyVariable = "UBIQUITY_KEY"

    /// The URL of the administration of an emulator. If it is one of the daemon that is named, its token is no secret,
    /// and needs no TLS on a network.
    public static let emulatorVariable = "UBIQUITY_EMULATOR"

    /// Stops a program that sets a value past a quota, if it is `1`. Apple's class drops such a value silently.
    public static let strictVariable = "UBIQUITY_STRICT"

    /// Leaves the changed keys out of the notification of an account change, if it is `0`. Apple documents only that it
    /// can name them.
    public static let accountChangeKeysVariable = "UBIQUITY_ACCOUNT_CHANGE_KEYS"

    var accountChangeNamesKeys: Bool { variable(Self.accountChangeKeysVariable) != "0" }

    var isStrict: Bool { variable(Self.strictVariable) == "1" }

    private static let emulatorName = "emulator"

    /// Whether the environment names a daemon or a token, so that nothing can be joined or left.
    public var namesDaemon: Bool {
        variable(Self.daemonVariable) != nil || variable(Self.tokenVariable) != nil
    }

    /// The URL of this user's emulator that was started last, of those that still run.
    public var emulatorURL: String? {
        let file = LocalFile(dataDirectory + "/" + EmulatorStatus.fileName)
        guard let content = try? file.read(byteLimit: EmulatorStatus.byteCount),  // none is running
            content.status.permissions & 0o022 == 0,
            let status = try? WireJSON.decode(EmulatorStatus.self, from: content.data)  // none is running
        else { return nil }
        return status.running.first?.url
    }

    /// The credentials that the variables name; nil if neither is set.
    ///
    /// - Throws: `unauthorized` if one of them is missing or invalid; `unreachable` if no emulator runs that is asked
    ///   for. Does not show the token.
    func namedCredentials() throws(StoreError) -> Credentials? {
        let (daemon, text) = (variable(Self.daemonVariable), variable(Self.tokenVariable))
        guard daemon != nil || text != nil else {
            guard variable(Self.keyVariable) == nil else {
                throw missing(Self.daemonVariable, beside: Self.keyVariable)
            }
            return nil
        }
        guard let daemon else { throw missing(Self.daemonVariable, beside: Self.tokenVariable) }
        guard let text else { throw missing(Self.tokenVariable, beside: Self.daemonVariable) }
        guard let token = AccessToken(text) else {
            throw invalid(Self.tokenVariable, "expected 1 to 1,024 visible ASCII characters without spaces")
        }
        let key = try variable(Self.keyVariable).map { text throws(StoreError) in
            guard let key = KeyFingerprint(text) else {
                throw invalid(
                    Self.keyVariable, "expected the 43 characters of a fingerprint",
                    hint: "set it to the key that kvsd status prints")
            }
            return key
        }
        let url = try url(daemon)
        guard key == nil || url.hasPrefix("https:") else {
            throw invalid(
                Self.keyVariable, "\(Self.daemonVariable) has no TLS", hint: "unset it, or use an https address")
        }
        let names = try Self.names(in: text)
        do throws(CredentialsError) {
            return try Credentials(
                daemon: DaemonAddress(url), token: token, key: key, account: names.account,
                deviceID: names.device, deviceName: names.device,
                isPlainTextAllowed: variable(Self.emulatorVariable) == url + "/emulator/v1"
                    && !text.hasPrefix(DaemonIdentity.tokenPrefix), isFromEnvironment: true)
        } catch {
            // It is the token if the values were interchanged.
            throw invalid(Self.daemonVariable, error.description.replacing(daemon, with: "(value)"))
        }
    }

    private func url(_ daemon: String) throws(StoreError) -> String {
        guard daemon == Self.emulatorName else { return daemon }
        guard let url = emulatorURL else {
            throw StoreError(
                .unreachable, operation: "find", subject: "the emulator",
                reason: "none of yours is running on this machine", hint: "run kvsd emulator")
        }
        return url
    }

    /// The names in a token of an emulator. Any other may be a secret, and is only recognized by its digest.
    private static func names(in token: String) throws(StoreError) -> (account: String, device: String) {
        let parts = token.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, parts.allSatisfy(StoreConfiguration.isValidStoreName),
            parts.allSatisfy({ $0.utf8.count <= 64 })
        {
            return (parts[0], parts[1])
        }
        return ("token-" + (try digest(of: token)), "device")
    }

    /// An empty value counts as none.
    private func variable(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func missing(_ variable: String, beside other: String) -> StoreError {
        StoreError(
            .unauthorized, operation: "read", subject: "the environment",
            reason: "\(other) is set, but \(variable) is not", hint: "set both, or neither")
    }

    private func invalid(
        _ variable: String, _ reason: String,
        hint: String = "set it to what kvsd device add or kvsd emulator prints"
    ) -> StoreError {
        StoreError(.unauthorized, operation: "read", subject: variable, reason: reason, hint: hint)
    }
}

/// Without the variables, of which one may be a token.
extension StoreEnvironment: CustomStringConvertible, CustomReflectable {
    public var description: String {
        "data \(dataDirectory), config \(configDirectory)"
            + (namesDaemon ? ", daemon and token of the environment" : "")
    }

    public var customMirror: Mirror { Mirror(self, children: ["directories": description]) }
}
