/// Secrets whose form is public, in text of any length, in one pass: those of `SecretForms`, and the few forms that are
/// more than a beginning and bytes of a kind.
struct TokenPatterns {
    /// The words of recovery phrases, which are not found without them.
    var words = WordList([])

    /// What the first secret in a text is called; nil if there is none.
    func first(in text: some Collection<UInt8>) -> String? {
        text.withContiguousStorageIfAvailable(find) ?? Array(text).withUnsafeBufferPointer(find)
    }

    private func find(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        let forms = SecretForms.byBeginning
        let starts = SecretForms.firstBytes
        var phrase = WordList.Run(words)
        for (place, byte) in text.enumerated() {
            if phrase.isComplete(after: byte) { return "a recovery phrase" }
            if let name = Self.special(byte, text, place) { return name }
            guard starts.contains(byte), place + 1 < text.count,
                let found = forms[UInt16(byte) << 8 | UInt16(text[place + 1])]
            else { continue }
            if let form = found.first(where: { $0.matches(text, at: place) }) { return form.name }
        }
        return phrase.isComplete(after: UInt8(ascii: " ")) ? "a recovery phrase" : nil
    }

    private static func special(_ byte: UInt8, _ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> String? {
        switch byte {
        case UInt8(ascii: "-") where isPrivateKey(text[place...]): "a private key"
        case UInt8(ascii: "L") where isEncodedKey(text, place): "a private key"
        case UInt8(ascii: "e") where text.isWordStart(place) && isWebToken(text[place...]): "a JSON web token"
        case UInt8(ascii: ":") where isAddressWithPassword(text, place): "an address with a password"
        case UInt8(ascii: "#") where isPageAddress(text, place): "the address of a Ubiquity page"
        case UInt8(ascii: ".") where isDiscordToken(text, place): "a Discord token"
        case UInt8(ascii: "="), UInt8(ascii: ":"): NamedSecret.name(text, at: place)
        default: nil
        }
    }

    private typealias Rest = Slice<UnsafeBufferPointer<UInt8>>

    /// The header of RFC 7468 of any kind of private key, and that of SSH2.
    private static func isPrivateKey(_ text: Rest) -> Bool {
        let begins = ["-----BEGIN ", "---- BEGIN "]
        guard let begin = begins.first(where: { text.starts(with: $0.utf8) }) else { return false }
        let label = text.dropFirst(begin.utf8.count).prefix(48)
            .prefix { ByteSet.upper.contains($0) || ByteSet.digits.contains($0) || $0 == 0x20 }
        return String(decoding: label, as: UTF8.self).contains("PRIVATE KEY")
    }

    /// The same in base64, as Kubernetes has it.
    private static func isEncodedKey(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        guard text[place...].starts(with: "LS0tLS1CRUdJTi".utf8) else { return false }
        let rest = String(decoding: text[place...].prefix(72), as: UTF8.self)
        return ["BQUklWQVRFIEtFW", "QUklWQVRFIEtFW", "UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ"].contains {
            rest.contains($0)
        }
    }

    /// Three parts of base64url, the first of which begins an object of JSON (RFC 7519).
    private static func isWebToken(_ text: Rest) -> Bool {
        guard text.starts(with: "eyJ".utf8) else { return false }
        var rest = text
        for _ in 0..<2 {
            let part = rest.prefix(16_384).prefix(while: ByteSet.token.contains)
            rest = rest[part.endIndex...]
            guard part.count >= 10, rest.popFirst() == UInt8(ascii: ".") else { return false }
        }
        return rest.prefix(10).count(where: ByteSet.token.contains) == 10
    }

    /// `scheme://user:password@host` (RFC 3986, section 3.2.1). A password that stands for one, as `$PASSWORD` or
    /// `***`, is none.
    private static func isAddressWithPassword(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        guard place > 0, ByteSet.alphanumeric.contains(text[place - 1]),
            text[place...].starts(with: "://".utf8)
        else { return false }
        let authority = text[(place + 3)...].prefix(512).prefix(while: authorityBytes.contains)
        guard let end = authority.lastIndex(of: UInt8(ascii: "@")),
            let colon = authority[..<end].firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let password = authority[(colon + 1)..<end]
        guard let first = password.first, end + 1 < authority.endIndex else { return false }
        let isOneByte = password.allSatisfy { $0 == first }
        return !isOneByte && first != UInt8(ascii: "$")
    }

    private static let authorityBytes = ByteSet.token + ".~!$&'()*+,;=:%@"

    /// An address with `/#` and a code of 22 bytes in base64url, the last character of which has only two bits.
    private static func isPageAddress(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        let count = 30
        guard place > 0, text[place - 1] == UInt8(ascii: "/") else { return false }
        let code = text[(place + 1)...].prefix(count + 1).prefix(while: ByteSet.token.contains)
        guard code.count == count, let last = code.last, "AQgw".utf8.contains(last) else { return false }
        let seen = ByteSet(code)
        guard seen.intersects(.upper), seen.intersects(.lower) else { return false }
        let address = text[..<place].suffix(300).reversed().prefix(while: ByteSet.visible.contains)
        return String(decoding: address.reversed(), as: UTF8.self).contains("://")
    }

    /// A number in base64, six characters and 27 or more, with points between; found at the first point.
    private static func isDiscordToken(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
        guard place + 7 < text.count, place >= 20, text[place + 7] == UInt8(ascii: "."),
            text[(place + 1)..<(place + 7)].allSatisfy(ByteSet.token.contains),
            text[(place + 8)...].prefix(27).count(where: ByteSet.token.contains) == 27
        else { return false }
        let number = Array(text[..<place].suffix(32).reversed().prefix(while: ByteSet.token.contains).reversed())
        guard (20...30).contains(number.count) else { return false }
        // Three digits become four characters of base64, the first two of which have few possible values.
        return stride(from: 0, to: number.count - 3, by: 4).allSatisfy {
            "MNO".utf8.contains(number[$0]) && "DTjz".utf8.contains(number[$0 + 1])
        }
    }
}

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

    /// Whether a value follows that looks made up by a machine, and is not a name or a call of a program: up to the
    /// quote that ends it, or else to white space.
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
        var value = text[start...].prefix(valueByteLimit).prefix { byte in
            byte > 0x20 && byte != 0x7F && (quote.map { $0 != byte } ?? (!isQuote(byte) && byte != UInt8(ascii: "\\")))
        }
        if let quote {
            guard value.endIndex < text.count, text[value.endIndex] == quote else { return false }
            if value.last == UInt8(ascii: "\\") { value = value.dropLast() }
        } else {
            guard value.count < valueByteLimit else { return false }
            while let last = value.last, ",;<>)]}".utf8.contains(last) { value = value.dropLast() }
        }
        guard value.count >= (isPassword ? 8 : 16), !isCode(value, isQuoted: quote != nil) else { return false }
        let seen = ByteSet(value)
        let digits = value.count(where: ByteSet.digits.contains)
        let needsOneDigit = isPassword && (quote != nil || !value.allSatisfy(ByteSet.token.contains))
        return seen.intersects(.letters) && seen.count >= (isPassword ? 5 : 8) && digits >= (needsOneDigit ? 1 : 2)
    }

    /// Whether a program puts the value in: a variable, a placeholder, a path or a call.
    private static func isCode(_ value: Slice<UnsafeBufferPointer<UInt8>>, isQuoted: Bool) -> Bool {
        guard let first = value.first else { return true }
        if "/<[{(%".utf8.contains(first) || value.starts(with: "http".utf8) { return true }
        let isName: (UInt8) -> Bool = { ByteSet.alphanumeric.contains($0) || $0 == UInt8(ascii: "_") }
        if first == UInt8(ascii: "$"), value.dropFirst().allSatisfy(isName) { return true }
        for (byte, next) in zip(value, value.dropFirst()) {
            switch (byte, next) {
            case (UInt8(ascii: "$"), UInt8(ascii: "{")), (UInt8(ascii: "$"), UInt8(ascii: "(")),
                (UInt8(ascii: "#"), UInt8(ascii: "{")), (UInt8(ascii: "{"), UInt8(ascii: "{")),
                (UInt8(ascii: "\\"), UInt8(ascii: "(")):
                return true
            default: break
            }
        }
        guard !isQuoted else { return false }
        let word = value.prefix { ByteSet.letters.contains($0) || $0 == UInt8(ascii: "_") }
        let next = word.endIndex < value.endIndex ? value[word.endIndex] : nil
        return value.contains(UInt8(ascii: ".")) || !word.isEmpty && next.map { "(<[{:?".utf8.contains($0) } ?? false
    }
}

/// The words of recovery phrases, as those of a content key: twelve or more of one list, one after another.
struct WordList: Sendable {
    private let words: Set<UInt64>
    private static let phraseWordCount = 12
    /// The fewest in a phrase, which is drawn at random: a text with fewer repeats its words.
    private static let differentWordCount = 9

    /// - Parameter words: lowercase ASCII of at most eight letters; others are left out.
    init(_ words: some Sequence<String>) {
        self.words = Set(words.filter { $0.utf8.count <= 8 }.map { Self.number($0.utf8) })
    }

    private static func number(_ letters: some Sequence<UInt8>) -> UInt64 {
        letters.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// How many words of the list have followed each other. Numbers, punctuation and white space may be between them.
    struct Run {
        private let list: WordList
        private var word: UInt64 = 0
        private var letterCount = 0
        private var phrase: [UInt64] = []

        init(_ list: WordList) { self.list = list }

        /// Whether a phrase ends with this byte.
        mutating func isComplete(after byte: UInt8) -> Bool {
            if list.words.isEmpty { return false }
            if byte >= 0x80 || ByteSet.letters.contains(byte) {
                word = word << 8 | UInt64(byte | 0x20)
                letterCount += 1
                return false
            }
            guard letterCount > 0 else { return false }
            defer { (word, letterCount) = (0, 0) }
            guard letterCount <= 8, list.words.contains(word) else {
                phrase = []
                return false
            }
            phrase = phrase.suffix(WordList.phraseWordCount - 1) + [word]
            return phrase.count == WordList.phraseWordCount && Set(phrase).count >= WordList.differentWordCount
        }
    }
}
