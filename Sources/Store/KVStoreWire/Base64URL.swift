package import Essentials

extension Data {
    /// Base64 with the URL-safe alphabet, without padding (RFC 4648, section 5).
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Nil unless `text` is what `base64URL` gives for some bytes.
    package init?(base64URL text: some StringProtocol) {
        let text = String(text)
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let bytes = Data(base64Encoded: standard), bytes.base64URL == text else {
            return nil
        }
        self = bytes
    }
}
