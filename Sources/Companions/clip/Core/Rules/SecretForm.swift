/// A form of secrets by which anybody recognizes one: what it begins with, and which bytes follow.
struct SecretForm {
    enum Piece {
        case text([UInt8])
        case some(ByteSet, ClosedRange<Int>)
    }

    let name: String
    let beginning: [UInt8]
    /// What has to stand before the beginning, which is then inside of the secret.
    private(set) var before: (set: ByteSet, count: Int)?
    private var pieces: [Piece] = []
    /// Whether no further byte of the last piece may follow, nor one before that which has to stand before.
    private var isExact = false
    /// Whether it has both letters and digits.
    private var isMixed = false

    /// The most bytes of a piece that are looked at.
    private static let pieceLimit = 512
    /// A body of eight bytes or more and fewer different ones is a placeholder such as `xxxx`.
    private static let differentByteCount = 4

    /// - Parameter shape: words: the letter of a set with the least number of bytes, as `A30`; `'` with a text; `<`
    ///   with what stands before; `.` for no byte more; `mixed` for letters and digits.
    init(name: String, beginning: String, shape: String) {
        self.name = name
        self.beginning = Array(beginning.utf8)
        for word in shape.split(separator: " ") {
            switch word.first {
            case "'": pieces.append(.text(Array(word.dropFirst().utf8)))
            case "<": before = Self.set(word.dropFirst())
            case ".": isExact = true
            case "m": isMixed = true
            default: if let (set, count) = Self.set(word) { pieces.append(.some(set, count...Self.pieceLimit)) }
            }
        }
        // Where nothing more may follow, or the next piece could be a part of it, the number is that of all bytes.
        for (index, piece) in pieces.enumerated() {
            guard case .some(let set, let count) = piece else { continue }
            var isAll = isExact
            if index + 1 < pieces.count, case .text(let next) = pieces[index + 1] {
                isAll = isAll || next.first.map(set.contains) == true
            }
            if isAll { pieces[index] = .some(set, count.lowerBound...count.lowerBound) }
        }
    }

    private static func set(_ word: Substring) -> (set: ByteSet, count: Int)? {
        guard let set = word.first.flatMap({ ByteSet.named[$0] }), let count = Int(word.dropFirst()) else { return nil }
        return (set, count)
    }

    /// Whether a secret of this form has its beginning there.
    func matches(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard text[start...].starts(with: beginning) else { return false }
        if let before {
            guard start >= before.count,
                text[(start - before.count)..<start].allSatisfy(before.set.contains),
                !isExact || start == before.count || !before.set.contains(text[start - before.count - 1])
            else { return false }
        } else if ByteSet.word.contains(beginning[0]), !text.isWordStart(start) {
            return false
        }
        var place = start + beginning.count
        var seen = ByteSet(text[(start - (before?.count ?? 0))..<start])
        for piece in pieces {
            switch piece {
            case .text(let expected):
                guard text[place...].starts(with: expected) else { return false }
                place += expected.count
            case .some(let set, let count):
                let found = text[place...].prefix(count.upperBound).prefix(while: set.contains)
                guard found.count >= count.lowerBound else { return false }
                for byte in found { seen.insert(byte) }
                place += found.count
            }
        }
        if isExact, case .some(let set, _)? = pieces.last, place < text.count, set.contains(text[place]) {
            return false
        }
        let isShort = place - start - beginning.count + (before?.count ?? 0) < 8
        return isShort
            || seen.count >= Self.differentByteCount
                && (!isMixed || seen.intersects(.letters) && seen.intersects(.digits))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether no word goes on there. What follows an escape, as `\n` in JSON or `%3D` in a URL, begins one.
    func isWordStart(_ start: Int) -> Bool {
        guard start > 0, ByteSet.word.contains(self[start - 1]) else { return true }
        guard start > 1 else { return false }
        if self[start - 2] == UInt8(ascii: "\\") { return "nrt".utf8.contains(self[start - 1]) }
        return start > 2 && self[start - 3] == UInt8(ascii: "%")
            && ByteSet.hexadecimal.contains(self[start - 1])
            && ByteSet.hexadecimal.contains(self[start - 2])
    }
}

/// A set of ASCII characters.
struct ByteSet: Equatable, ExpressibleByStringLiteral {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init() {}

    init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { insert(byte) }
    }

    init(stringLiteral text: String) { self.init(text.utf8) }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        (sum.low, sum.high) = (left.low | right.low, left.high | right.high)
        return sum
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte - 64) & 1 == 1
    }

    /// Bytes that are no ASCII are not.
    mutating func insert(_ byte: UInt8) {
        if byte < 64 {
            low |= 1 << UInt64(byte)
        } else if byte < 128 {
            high |= 1 << UInt64(byte - 64)
        }
    }

    var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    func intersects(_ other: ByteSet) -> Bool { low & other.low != 0 || high & other.high != 0 }

    static let upper: Self = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    static let lower: Self = "abcdefghijklmnopqrstuvwxyz"
    static let digits: Self = "0123456789"
    static let letters = upper + lower
    static let hexadecimal = digits + "abcdefABCDEF"
    static let alphanumeric = letters + digits
    static let word = alphanumeric + "_"
    static let token = word + "-"
    /// Visible, but for quotes.
    static let visible = alphanumeric + "!#$%&()*+,-./:;<=>?@[\\]^_{|}~"

    /// By the letters of shapes.
    static let named: [Character: ByteSet] = [
        "A": alphanumeric, "B": alphanumeric + "+/", "D": digits, "G": visible, "H": digits + "abcdef",
        "L": lower + digits, "Q": alphanumeric + "%+/=", "S": alphanumeric + "_.=-", "T": token, "U": upper + digits,
        "W": word, "X": hexadecimal,
    ]
}
