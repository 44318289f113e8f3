/// A bearer token. Nothing that prints, dumps or interpolates a value shows it.
public struct AccessToken: Sendable, Hashable {
    /// For the `Authorization` header and the credentials file only.
    let secret: String

    /// Nil unless the text can stand in a header: visible ASCII, 1–1,024 bytes.
    public init?(_ text: String) {
        guard (1...HTTPLimits.tokenByteCount).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        secret = text
    }

    /// `text` with every occurrence of the token taken out, for words that come from the other side.
    func redacted(_ text: String) -> String {
        text.contains(secret) ? text.replacing(secret, with: "(token)") : text
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(token)" }
    public var debugDescription: String { "(token)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
