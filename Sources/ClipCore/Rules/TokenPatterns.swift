import Foundation

/// Secrets whose form is public, in text of any length, in one pass.
package enum TokenPatterns {
    /// What the first secret in a text is called; nil if there is none.
    package static func first(in text: some Collection<UInt8>) -> String? {
        text.withContiguousStorageIfAvailable(find) ?? Array(text).withUnsafeBufferPointer(find)
    }

    /// A beginning, then at least so many characters of a kind.
    private struct Pattern {
        let name: String
        let beginning: [UInt8]
        let minimum: Int
        let isAllowed: (UInt8) -> Bool

        init(
            _ name: String, _ beginning: String, _ minimum: Int,
            _ isAllowed: @escaping (UInt8) -> Bool
        ) {
            self.name = name
            self.beginning = Array(beginning.utf8)
            self.minimum = minimum
            self.isAllowed = isAllowed
        }
    }

    private static func patterns() -> [Pattern] {
        let github = ["p", "o", "u", "s", "r"].map {
            Pattern("a GitHub token", "gh\($0)_", 30, isWord)
        }
        let aws = ["AKIA", "ASIA"].map {
            Pattern("an AWS access key", $0, 16, isUpperOrDigit)
        }
        let stripe = ["sk_live_", "rk_live_", "sk_test_"].map {
            Pattern("a Stripe key", $0, 16, isWord)
        }
        let slack = ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"].map {
            Pattern("a Slack token", $0, 10, isTokenByte)
        }
        return github + aws + stripe + slack + [
            Pattern("a GitHub token", "github_pat_", 22, isWord),
            Pattern("a GitLab token", "glpat-", 20, isTokenByte),
            Pattern("a Google API key", "AIza", 35, isTokenByte),
            Pattern("a Google OAuth secret", "GOCSPX-", 20, isTokenByte),
            Pattern("an API key", "sk-ant-", 20, isTokenByte),
            Pattern("an API key", "sk-proj-", 20, isTokenByte),
            Pattern("an npm token", "npm_", 36, isWord),
            Pattern("a PyPI token", "pypi-AgE", 16, isTokenByte),
            Pattern("a Hugging Face token", "hf_", 30, isWord),
            Pattern("a DigitalOcean token", "dop_v1_", 60, isWord),
            Pattern("an Azure storage key", "AccountKey=", 60, isBase64),
            Pattern("an age secret key", "AGE-SECRET-KEY-1", 50, isUpperOrDigit),
            Pattern("a one-time password secret", "otpauth://", 1, { $0 > 0x20 }),
            Pattern("a one-time password secret", "otpauth-migration://", 1, { $0 > 0x20 }),
            Pattern("a private key", "PuTTY-User-Key-File-", 1, { $0 > 0x20 }),
        ]
    }

    private static func find(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        let patterns = Dictionary(grouping: patterns()) { $0.beginning[0] }
        var table = [[Pattern]?](repeating: nil, count: 256)
        for (byte, group) in patterns { table[Int(byte)] = group }
        for start in text.indices {
            let byte = text[start]
            if byte == UInt8(ascii: "-"), isPrivateKey(text[start...]) { return "a private key" }
            guard table[Int(byte)] != nil || byte == UInt8(ascii: "e"),
                start == 0 || !isWord(text[start - 1])
            else { continue }
            let rest = text[start...]
            if byte == UInt8(ascii: "e"), isWebToken(rest) { return "a JSON web token" }
            for pattern in table[Int(byte)] ?? [] where rest.starts(with: pattern.beginning) {
                let secret = rest.dropFirst(pattern.beginning.count).prefix(pattern.minimum)
                if secret.count == pattern.minimum, secret.allSatisfy(pattern.isAllowed) {
                    return pattern.name
                }
            }
        }
        return nil
    }

    /// The header of RFC 7468, of any kind of private key.
    private static func isPrivateKey(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let begin = "-----BEGIN "
        guard text.starts(with: begin.utf8) else { return false }
        let label = text.dropFirst(begin.utf8.count).prefix(48)
            .prefix { isUpperOrDigit($0) || $0 == UInt8(ascii: " ") }
        return String(decoding: label, as: UTF8.self).contains("PRIVATE KEY")
    }

    /// Three parts of base64url, the first of which begins an object of JSON (RFC 7519).
    private static func isWebToken(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard text.starts(with: "eyJ".utf8) else { return false }
        let parts = text.prefix(16_384).prefix { isTokenByte($0) || $0 == UInt8(ascii: ".") }
            .split(separator: UInt8(ascii: "."), maxSplits: 3)
        return parts.count >= 3 && parts[0].count >= 10 && parts[1].count >= 10
            && parts[2].count >= 10
    }

    // MARK: Bytes

    private static func isUpperOrDigit(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        isUpperOrDigit(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isWord(byte) || byte == UInt8(ascii: "-")
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        isWord(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }
}
