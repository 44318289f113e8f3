/// A bearer token. Printing, dumping and interpolating it does not show it.
///
/// For an example see `Credentials`.
public struct AccessToken: Sendable, Hashable {
    /// Only for the `Authorization` header and the credentials file.
    let secret: String

    /// Nil unless the text consists of 1 to 1,024 visible ASCII characters.
    public init?(_ text: String) {
        guard (1...HTTPLimits.tokenByteCount).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        secret = text
    }

    /// `text` without the token, for text from the other side.
    func redacted(_ text: String) -> String { text.replacing(secret, with: "(token)") }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(token)" }
    public var debugDescription: String { "(token)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
