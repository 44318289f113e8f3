import Essentials

/// The SHA-256 of a public key as a certificate contains it (SubjectPublicKeyInfo in DER). Identifies a daemon,
/// whatever certificate it presents for the key.
///
/// For an example see `PairingLine`.
public struct KeyFingerprint: Sendable, Hashable {
    private let bytes: Data

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Data(bytes)
        guard self.bytes.count == 32 else { return nil }
    }

    /// Reads the text form.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Data(base64URL: text) else { return nil }
        self.init(bytes)
    }
}

extension KeyFingerprint: CustomStringConvertible {
    /// 43 characters of base64url.
    public var description: String { bytes.base64URL }
}
