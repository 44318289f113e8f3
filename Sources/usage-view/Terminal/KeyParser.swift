/// Turns the bytes of a terminal in raw mode into keys. Pure: no clock decides what a lone escape
/// byte means; the caller says with `endOfInput()` that nothing follows for now.
struct KeyParser: Sendable, Equatable {
    /// The start of a sequence whose end has not arrived.
    private var pending: [UInt8] = []

    /// No key sequence is longer; more than this is noise and is dropped.
    private static let longestSequence = 32
    private static let escape: UInt8 = 0x1B

    mutating func keys(from bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            pending.append(byte)
            switch Self.parse(pending) {
            case .incomplete:
                if pending.count >= Self.longestSequence {
                    pending = []
                    keys.append(.unknown)
                }
            case .key(let key):
                pending = []
                keys.append(key)
            case .escapeThen(let key):
                pending = []
                keys += [.escape, key]
            }
        }
        return keys
    }

    /// Nothing follows for now: a lone escape byte was the escape key. Anything else that is
    /// incomplete stays for the bytes to come.
    mutating func endOfInput() -> [Key] {
        guard pending == [Self.escape] else { return [] }
        pending = []
        return [.escape]
    }

    private enum Result {
        case incomplete
        case key(Key)
        /// An escape byte and a byte that cannot continue it: two keys.
        case escapeThen(Key)
    }

    private static func parse(_ bytes: [UInt8]) -> Result {
        guard bytes[0] == escape else { return parseText(bytes) }
        guard bytes.count > 1 else { return .incomplete }
        switch bytes[1] {
        case UInt8(ascii: "["):
            // Control sequence: parameters, then one final byte.
            guard bytes.count > 2, let last = bytes.last, (0x40...0x7E).contains(last) else {
                return .incomplete
            }
            return .key(controlKey(Array(bytes[2...])))
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return .incomplete }
            return .key(controlKey([bytes[2]]))
        case escape:
            return .escapeThen(.escape)
        default:
            guard case .key(let key) = parseText([bytes[1]]) else { return .key(.unknown) }
            return .escapeThen(key)
        }
    }

    private static func controlKey(_ bytes: [UInt8]) -> Key {
        switch String(decoding: bytes, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "H", "1~", "7~": .home
        case "F", "4~", "8~": .end
        case "5~": .pageUp
        case "6~": .pageDown
        default: .unknown
        }
    }

    private static func parseText(_ bytes: [UInt8]) -> Result {
        switch bytes[0] {
        case 0x03, 0x04, 0x1C: return .key(.interrupt)
        case 0x0A, 0x0D: return .key(.enter)
        case 0x20...0x7E: return .key(.character(Character(Unicode.Scalar(bytes[0]))))
        case 0xC2...0xF4: break
        default: return .key(.unknown)
        }
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else {
            // A byte that continues nothing ends the attempt.
            return bytes.count > 1 && bytes[bytes.count - 1] & 0xC0 != 0x80
                ? .key(.unknown) : .incomplete
        }
        guard let text = String(validating: bytes, as: UTF8.self), let first = text.first else {
            return .key(.unknown)
        }
        return .key(.character(first))
    }
}
