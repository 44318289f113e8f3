package import Essentials

public import KVStoreWire

/// The account and device of this machine. Written by `kvs join`, or named by environment variables.
///
/// Printing, dumping and interpolating it shows everything but the token.
///
/// ```swift
/// guard let token = AccessToken("secret") else { return }
/// let credentials = try Credentials(
///     daemon: DaemonAddress("http://127.0.0.1:8722"), token: token, account: "a", deviceID: "d1", deviceName: "desk")
/// ```
public struct Credentials: Sendable, Equatable {
    public let daemon: DaemonAddress
    public let token: AccessToken
    /// The only key that the daemon may have; nil to trust the authorities that the system trusts.
    public let key: KeyFingerprint?
    /// The account's id.
    public let account: String
    public let deviceID: String
    /// As of the last sync: the device may be renamed on another machine.
    public let deviceName: String
    /// Whether the token may cross a network unencrypted.
    public let isPlainTextAllowed: Bool
    /// Whether environment variables name the daemon and the token. Each device has replicas of its own then, as
    /// several run on one machine.
    public let isFromEnvironment: Bool

    /// The id that the daemon gave the device; nil where only its token is known.
    package var daemonDeviceID: String? { isFromEnvironment ? nil : deviceID }

    /// Whether the token is not one of a daemon, so that an emulator may sign the device in to another account.
    var isEmulated: Bool {
        isFromEnvironment && !token.secret.hasPrefix(DaemonIdentity.tokenPrefix)
    }

    /// - Throws: for a text that is empty, too long or not printable, for an address that would expose the token
    ///   without `isPlainTextAllowed`, and for a key without TLS.
    public init(
        daemon: DaemonAddress, token: AccessToken, key: KeyFingerprint? = nil, account: String,
        deviceID: String, deviceName: String, isPlainTextAllowed: Bool = false
    ) throws(CredentialsError) {
        try self.init(
            daemon: daemon, token: token, key: key, account: account, deviceID: deviceID, deviceName: deviceName,
            isPlainTextAllowed: isPlainTextAllowed, isFromEnvironment: false)
    }

    /// The same device with another name.
    func renamed(to name: String) throws(CredentialsError) -> Credentials {
        try Credentials(
            daemon: daemon, token: token, key: key, account: account, deviceID: deviceID, deviceName: name,
            isPlainTextAllowed: isPlainTextAllowed, isFromEnvironment: isFromEnvironment)
    }

    /// Whether they are equal but for the device's name.
    func isSameDevice(as other: Credentials) -> Bool {
        (try? renamed(to: other.deviceName)) == other  // an invalid name is another one
    }

    init(
        daemon: DaemonAddress, token: AccessToken, key: KeyFingerprint? = nil, account: String, deviceID: String,
        deviceName: String, isPlainTextAllowed: Bool = false, isFromEnvironment: Bool
    ) throws(CredentialsError) {
        guard daemon.isPrivate || isPlainTextAllowed else { throw .plainText(daemon) }
        guard key == nil || daemon.scheme == .https else {
            throw CredentialsError("\(daemon) has a pinned key, but no TLS")
        }
        for (field, text, limit) in [
            ("account", account, HTTPLimits.identifierByteCount),
            ("deviceID", deviceID, HTTPLimits.identifierByteCount),
            ("deviceName", deviceName, HTTPLimits.deviceNameByteCount),
        ] {
            guard (1...limit).contains(text.utf8.count), text.printable(scalarLimit: limit) == text else {
                throw CredentialsError("\(field) must be 1 to \(limit) bytes of printable text")
            }
        }
        self.daemon = daemon
        self.token = token
        self.key = key
        self.account = account
        self.deviceID = deviceID
        self.deviceName = deviceName
        self.isPlainTextAllowed = isPlainTextAllowed
        self.isFromEnvironment = isFromEnvironment
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(deviceName) (\(deviceID)) of \(account) at \(daemon)" }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Why an address or credentials are invalid, as one sentence for users. Never shows a token or a password.
///
/// ```swift
/// do throws(CredentialsError) {
///     print(try DaemonAddress("ftp://example.org"))
/// } catch {
///     print(error)
/// }
/// ```
public struct CredentialsError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    /// The token would cross a network unencrypted.
    public static func plainText(_ address: DaemonAddress) -> CredentialsError {
        CredentialsError(
            "\(address) would expose the token on the network; use https://, or allow it with "
                + "kvs join --insecure-allow-plain-http")
    }
}

extension CredentialsError: ReportableError {
    package var exitStatus: ExitStatus { .usage }
}
