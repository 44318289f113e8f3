import Foundation

/// What makes this machine a device of an account. Written by `kvs join`.
///
/// Printing, dumping and interpolating it shows everything but the token.
public struct Credentials: Sendable, Equatable {
    public let daemon: DaemonAddress
    public let token: AccessToken
    /// The account's id, as the daemon gives it.
    public let account: String
    public let deviceID: String
    public let deviceName: String
    /// Whether the token may go over a network in plain text.
    public let isPlainTextAllowed: Bool

    /// Throws where a part is empty, too long or not printable, and where the token would leave this
    /// machine in plain text without that being allowed.
    public init(
        daemon: DaemonAddress, token: AccessToken, account: String, deviceID: String,
        deviceName: String, isPlainTextAllowed: Bool = false
    ) throws(CredentialsProblem) {
        guard daemon.isPrivate || isPlainTextAllowed else { throw .plainText(daemon) }
        try Self.check(account, "account", limit: HTTPLimits.identifierByteCount)
        try Self.check(deviceID, "deviceID", limit: HTTPLimits.identifierByteCount)
        try Self.check(deviceName, "deviceName", limit: HTTPLimits.deviceNameByteCount)
        self.daemon = daemon
        self.token = token
        self.account = account
        self.deviceID = deviceID
        self.deviceName = deviceName
        self.isPlainTextAllowed = isPlainTextAllowed
    }

    private static func check(
        _ text: String, _ field: String, limit: Int
    ) throws(CredentialsProblem) {
        guard (1...limit).contains(text.utf8.count),
            ProblemDetails.plain(text, limit: limit) == text
        else { throw .field(field, "must be 1–\(limit) bytes of printable text") }
    }
}

/// Why values are no credentials.
public enum CredentialsProblem: Error, Sendable, Equatable {
    /// Not JSON, or another version of the file.
    case document(String)
    case field(String, String)
    case address(DaemonAddress.Problem)
    case plainText(DaemonAddress)
}

extension CredentialsProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .document(let text): text
        case .field(let name, let text): "\(name) \(text)"
        case .address(let problem): problem.description
        case .plainText(let address):
            "\(address) would carry the token over the network in plain text; use https://, or allow "
                + "it with kvs join --insecure-allow-plain-http"
        }
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(deviceName) (\(deviceID)) of \(account) at \(daemon)" }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
