import Essentials

/// A JSON string in its written form: characters with the bytes that write them, so that a part of
/// the string keeps its escapes. A decoder would lose them, and an edited command its spelling.
struct WrittenString: Sendable, Equatable {
    struct Unit: Sendable, Equatable {
        /// The character if it is ASCII, also when it is written as an escape; else nil.
        var ascii: UInt8?
        var written: ArraySlice<UInt8>
    }

    var units: ArraySlice<Unit>

    init(units: ArraySlice<Unit>) { self.units = units }

    /// From a valid string with its quotation marks; nil for any other value.
    init?(_ literal: ArraySlice<UInt8>) {
        guard literal.count >= 2, literal.first == UInt8(ascii: "\"") else { return nil }
        var units: [Unit] = []
        var rest = literal.dropFirst().dropLast()
        while let first = rest.first {
            guard first == UInt8(ascii: "\\"), let kind = rest.dropFirst().first else {
                units.append(Unit(ascii: first < 0x80 ? first : nil, written: rest.prefix(1)))
                rest = rest.dropFirst()
                continue
            }
            let isCode = kind == UInt8(ascii: "u")
            let written = rest.prefix(isCode ? 6 : 2)
            units.append(Unit(ascii: isCode ? Self.ascii(code: written) : Self.ascii(escape: kind), written: written))
            rest = rest.dropFirst(written.count)
        }
        self.units = units[...]
    }

    /// The plain form of a text.
    init(escaping text: String) {
        var units: [Unit] = []
        for byte in text.utf8 {
            let written: [UInt8] =
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
                case 0..<0x20:
                    Array("\\u00".utf8) + Array((byte < 16 ? "0" : "1").utf8) + Array(String(byte % 16, radix: 16).utf8)
                default: [byte]
                }
            units.append(Unit(ascii: byte < 0x80 ? byte : nil, written: written[...]))
        }
        self.units = units[...]
    }

    /// Without quotation marks.
    var written: [UInt8] { units.flatMap(\.written) }

    /// The value; nil when it is not Unicode text, as an escaped half of a surrogate pair.
    var string: String? {
        if units.allSatisfy({ $0.written.count == 1 }) {
            return String(decoding: written, as: UTF8.self)
        }
        // Half of a surrogate pair.
        return try? JSONDecoder().decode(String.self, from: Data([0x22] + written + [0x22]))
    }

    private static func ascii(code written: ArraySlice<UInt8>) -> UInt8? {
        let code = UInt32(String(decoding: written.dropFirst(2), as: UTF8.self), radix: 16)
        return code.flatMap { $0 < 0x80 ? UInt8($0) : nil }
    }

    private static func ascii(escape kind: UInt8) -> UInt8 {
        switch kind {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: kind
        }
    }
}
