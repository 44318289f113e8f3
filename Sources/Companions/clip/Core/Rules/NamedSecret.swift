/// A secret that has no form of its own, but a name before it that says what it is: `DB_PASSWORD=…`, `"apiKey": "…"`.
enum NamedSecret {
    private static let passwordNames = ["password", "passwd", "passphrase", "pwd"]
    private static let keyNames = [
        "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "presharedkey",
        "authkey", "encryptionkey", "signingkey", "masterkey",
    ]
    private static let nameByteLimit = 64
    private static let valueByteLimit = 256

    /// What it is called; nil unless `place`, of `=` or `:`, is between a name and a secret.
    static func name(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> String? {
        // Most places are decided by the byte before.
        var end = place
        while end > 0, place - end < 4, isGap(text[end - 1]) { end -= 1 }
        guard end > 0, "dDeEtTnNyY".utf8.contains(text[end - 1]) else { return nil }
        let name = text[..<end].suffix(nameByteLimit).reversed().prefix(while: isNameByte)
            .filter { ByteSet.letters.contains($0) }.reversed()
        let plain = String(decoding: name, as: UTF8.self).lowercased()
        let isPassword = passwordNames.contains(where: plain.hasSuffix)
        guard isPassword || keyNames.contains(where: plain.hasSuffix),
            isSecret(text, after: place, isPassword: isPassword)
        else { return nil }
        return isPassword ? "a password" : "a secret with its name"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool { ByteSet.token.contains(byte) || byte == UInt8(ascii: ".") }

    /// White space, or a quote that may be escaped.
    private static func isGap(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || isQuote(byte) || byte == UInt8(ascii: "\\")
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }

    private static let valueBytes: ByteSet = {
        var set = ByteSet.token
        for byte in "+/=.~!@#%^&*".utf8 { set.insert(byte) }
        return set
    }()

    /// Whether a value follows that looks made up by a machine, and is not a name or a call of a program.
    private static func isSecret(_ text: UnsafeBufferPointer<UInt8>, after place: Int, isPassword: Bool) -> Bool {
        var start = place + 1
        if start < text.count, text[start] == UInt8(ascii: "=") || text[start] == UInt8(ascii: ">") {
            start += 1
        }
        var quote: UInt8?
        while start < text.count, start - place < 8, isGap(text[start]) {
            if isQuote(text[start]) { quote = text[start] }
            start += 1
        }
        let value = text[start...].prefix(valueByteLimit).prefix(while: valueBytes.contains)
        guard value.count >= (isPassword ? 8 : 16) else { return false }
        if value.endIndex < text.count {
            let next = text[value.endIndex]
            let ends = quote.map { next == $0 || next == UInt8(ascii: "\\") }
            guard ends ?? (next <= 0x20 || ",;\\\"'`<)]}".utf8.contains(next)) else { return false }
        }
        var seen = ByteSet()
        for byte in value { seen.insert(byte) }
        let digits = value.count(where: ByteSet.digits.contains)
        let isName =
            quote == nil && value.contains(UInt8(ascii: "."))
            || value.starts(with: "/".utf8) || value.starts(with: "http".utf8)
        return !isName && seen.intersects(.letters) && seen.count >= (isPassword ? 5 : 8)
            && digits >= (isPassword ? quote == nil ? 2 : 1 : 2)
    }
}
