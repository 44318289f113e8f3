/// Turns the bytes of a terminal in raw mode into keys. Pure: no timeout decides whether an escape byte stands
/// alone; the caller reports with `endOfInput()` that nothing follows for now.
struct KeyParser: Sendable, Equatable {
    /// The start of a sequence whose end has not arrived.
    private var pending: [UInt8] = []

    /// Longer than any key sequence; more is noise and is dropped.
    private static let longestSequence = 32
    private static let escape: UInt8 = 0x1B

    mutating func keys(from bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            pending.append(byte)
            if let parsed = Self.parse(pending) {
                keys += parsed
            } else if pending.count >= Self.longestSequence {
                keys.append(.unknown)
            } else {
                continue
            }
            pending = []
        }
        return keys
    }

    /// Turns a lone escape byte into the escape key. Any other incomplete sequence stays pending.
    mutating func endOfInput() -> [Key] {
        guard pending == [Self.escape] else { return [] }
        pending = []
        return [.escape]
    }

    /// Nil while the sequence is incomplete.
    private static func parse(_ bytes: [UInt8]) -> [Key]? {
        guard bytes[0] == escape else { return parseText(bytes).map { [$0] } }
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "["):
            // Control sequence: parameters, then one final byte.
            let isComplete = bytes.count > 2 && (0x40...0x7E).contains(bytes[bytes.count - 1])
            return isComplete ? [controlKey(bytes[2...])] : nil
        case UInt8(ascii: "O"): return bytes.count > 2 ? [controlKey(bytes[2...])] : nil
        case escape: return [.escape, .escape]
        default: return parseText([bytes[1]]).map { [.escape, $0] } ?? [.unknown]
        }
    }

    private static func controlKey(_ bytes: ArraySlice<UInt8>) -> Key {
        switch String(decoding: bytes, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "C": .right
        case "D": .left
        case "Z": .backTab
        case "H", "1~", "7~": .home
        case "F", "4~", "8~": .end
        case "5~": .pageUp
        case "6~": .pageDown
        default: .unknown
        }
    }

    private static func parseText(_ bytes: [UInt8]) -> Key? {
        switch bytes[0] {
        case 0x03, 0x04, 0x1C: return .interrupt
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x01...0x1A: return .control(Character(Unicode.Scalar(bytes[0] + 0x60)))
        case 0x20...0x7E: return .character(Character(Unicode.Scalar(bytes[0])))
        case 0xC2...0xF4: break
        default: return .unknown
        }
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else {
            let isContinued = bytes.count == 1 || bytes[bytes.count - 1] & 0xC0 == 0x80
            return isContinued ? nil : .unknown
        }
        return String(validating: bytes, as: UTF8.self)?.first.map { .character($0) } ?? .unknown
    }
}
