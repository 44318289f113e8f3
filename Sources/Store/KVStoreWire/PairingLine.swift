import Essentials

/// What `kvsd pair` prints and `kvs join` reads:
///
///     ubiquity://HOST:PORT[/PATH]/CODE/KEY
///
/// `KEY` is the fingerprint of the daemon's public key; or `https` where a trusted authority vouches for the daemon; or
/// `http` where nothing is encrypted. Every character may stand unquoted in a shell.
///
/// ```swift
/// guard let line = PairingLine(text) else { return }
/// let address = try DaemonAddress(line.url)
/// let paired = try await DaemonClient(pairingWith: address, key: line.key).pair(line.code, name: "laptop")
/// let credentials = try Credentials(
///     daemon: address, token: paired.token, key: line.key, account: paired.account, deviceID: paired.id,
///     deviceName: paired.name)
/// ```
public struct PairingLine: Sendable, Hashable {
    /// The daemon's URL.
    public var url: String
    public var code: PairingCode
    /// Nil without a pinned key.
    public var key: KeyFingerprint?

    package init(url: String, code: PairingCode, key: KeyFingerprint?) {
        self.url = url
        self.code = code
        self.key = key
    }

    private static let scheme = "ubiquity://"
    /// What is said of one that is invalid.
    package static let incomplete = "incomplete line: copy all of what ubq up or kvsd pair printed, and quote it"

    /// Whether the text is meant to be such a line, valid or not.
    public static func isOne(_ text: String) -> Bool {
        text.prefix(scheme.count).lowercased() == scheme
    }

    /// What is meant to be such a line among the words with which it was copied: `ubq join 'ubiquity://…'`.
    public static func candidate(in text: String) -> String? {
        text.split { $0.isWhitespace || "'\"`‘’“”".contains($0) }.map(String.init).first(where: isOne)
    }

    /// Nil for a line that is invalid, or of which a part is missing.
    public init?(_ text: String) {
        guard Self.isOne(text) else { return nil }
        var parts = text.dropFirst(Self.scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, let last = parts.popLast(), let codeText = parts.popLast(),
            let code = PairingCode(codeText), parts[0] != ""
        else { return nil }
        let scheme: String
        if last == "http" || last == "https" {
            scheme = String(last)
        } else {
            guard let key = KeyFingerprint(last) else { return nil }
            self.key = key
            scheme = "https"
        }
        self.code = code
        url = scheme + "://" + parts.joined(separator: "/")
    }

    /// The line itself. It contains the code, so it is only for the user who pairs.
    public var text: String {
        let parts = url.split(separator: "://", maxSplits: 1)
        let end = key?.description ?? String(parts[0])
        return Self.scheme + parts[parts.count - 1] + "/" + code.text + "/" + end
    }
}

extension PairingCode {
    /// The address that signs in a web page, for its user only. The fragment, which has the code, reaches no server and
    /// no log.
    ///
    /// - Parameter daemon: the daemon's URL, without a slash at the end.
    public func pageURL(of daemon: String) -> String { daemon + "/#" + text }
}

/// A code that adds one device: an id that names the pairing, and 128 random bits. Printing, dumping and interpolating
/// it shows only the id.
///
/// For an example see `PairingLine`.
public struct PairingCode: Sendable, Hashable {
    package let text: String

    private static let idByteCount = 6
    private static let secretByteCount = 16

    /// Nil unless the text has the form of a code.
    package init?(_ text: some StringProtocol) {
        guard let bytes = Data(base64URL: text),
            bytes.count == Self.idByteCount + Self.secretByteCount
        else { return nil }
        self.text = String(text)
    }

    package init(using random: inout some RandomNumberGenerator) {
        let count = Self.idByteCount + Self.secretByteCount
        text = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64URL
    }

    /// The first eight characters: public.
    package var id: String { String(text.prefix(Self.idByteCount * 4 / 3)) }
}

extension PairingCode: CustomStringConvertible, CustomReflectable {
    public var description: String { "(code \(id))" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The body of `POST /v1/pairings`.
package struct NewPairing: Sendable, Equatable, Codable {
    /// The device's name; nil if the device proposes it.
    package var name: String?
    package var readOnly: Bool?
    /// The only stores that the device will see; nil for those that the caller sees.
    package var stores: [String]?
    /// Whether the device will be a web page.
    package var page: Bool?

    package init(name: String?, readOnly: Bool?, stores: [String]?, page: Bool? = nil) {
        self.name = name
        self.readOnly = readOnly
        self.stores = stores
        self.page = page
    }
}

/// The answer to `POST /v1/pairings`.
package struct PairingCodeAnswer: Sendable, Equatable, Codable {
    package var code: String

    package init(code: String) { self.code = code }
}

/// The body of `POST /v1/pair`.
package struct PairingRequest: Sendable, Equatable, Codable {
    package var code: String
    /// The name that the device proposes for itself.
    package var device: String?
    /// The token of the device that it was before, which gives this name up to it.
    package var former: String?

    package init(code: String, device: String?, former: String? = nil) {
        self.code = code
        self.device = device
        self.former = former
    }
}

/// The answer to `POST /v1/pair`.
package struct PairingAnswer: Sendable, Equatable, Codable {
    package var token: String
    package var account: String
    /// The device's name: the proposed one, or another where that is taken.
    package var device: String
    package var deviceID: String
    package var scopes: [String]
    package var stores: [String]?

    package init(
        token: String, account: String, device: String, deviceID: String, scopes: [String],
        stores: [String]?
    ) {
        self.token = token
        self.account = account
        self.device = device
        self.deviceID = deviceID
        self.scopes = scopes
        self.stores = stores
    }
}
