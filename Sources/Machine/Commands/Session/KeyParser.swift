import TerminalText

/// Turns the bytes of a terminal in raw mode into keys. Pure: no timeout decides whether an escape byte stands
/// alone; the caller reports with `endOfInput()` that nothing has followed for a while.
///
/// What is inside of a control sequence or string (ECMA-48) never becomes characters, whatever its length and wherever
/// it is split. Memory is bounded.
package struct KeyParser: Sendable, Equatable {
    private enum State: Sendable, Equatable {
        case ground
        /// The start of a character in UTF-8.
        case text([UInt8])
        case escape
        /// Control sequence: parameters and intermediate bytes so far. Nil if they are too long to mean anything.
        case control([UInt8]?)
        /// After ESC O or ESC [ [: one byte follows.
        case single(prefix: UInt8)
        /// The old form of mouse events, which some terminals know alone: that many bytes follow.
        case oldMouse(remaining: Int)
        /// A control string, such as an answer, which nothing here asks for. Control-C ends it like its terminator.
        case string(isEmpty: Bool)
        /// Between the brackets of pasted text.
        case paste([UInt8])
        /// An escape byte inside of one of these.
        case stringEscape
        case pasteEnd(text: [UInt8], matched: Int)
    }

    private var state = State.ground
    private let isChorded: Bool

    private static let escape: UInt8 = 0x1B
    private static let interrupt: UInt8 = 0x03
    /// Longer than any sequence with a meaning.
    private static let longestSequence = 64
    private static let longestPaste = 4_096
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// - Parameter isChorded: whether Alt with a character, Control-D and Control-J are keys of their own. Otherwise
    ///   they are the escape key and the character, an interrupt and Enter.
    package init(isChorded: Bool = false) { self.isChorded = isChorded }

    /// Whether `endOfInput` would change something.
    package var isUndecided: Bool { state == .escape || state == .string(isEmpty: true) }

    package mutating func keys(from bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { parse(byte, &keys) }
        return keys
    }

    /// Turns a lone escape byte into the escape key, and forgets a lone introducer of a string, which is a key with
    /// Alt. Any other incomplete sequence stays pending.
    package mutating func endOfInput() -> [Key] {
        guard isUndecided else { return [] }
        defer { state = .ground }
        return [state == .escape ? .escape : .unknown]
    }

    private mutating func parse(_ byte: UInt8, _ keys: inout [Key]) {
        switch state {
        case .ground: parseText(byte, &keys)
        case .text(let bytes): continueText(bytes, byte, &keys)
        case .escape: afterEscape(byte, &keys)
        case .control(let bytes): continueControl(bytes, byte, &keys)
        case .single(let prefix):
            state = .ground
            guard byte >= 0x20 else { return restart(byte, &keys) }
            keys.append(Self.singleKey(prefix: prefix, byte))
        case .oldMouse(let remaining): state = remaining > 1 ? .oldMouse(remaining: remaining - 1) : .ground
        case .string:
            switch byte {
            case 0x07, 0x18, 0x1A: state = .ground
            case Self.escape: state = .stringEscape
            case Self.interrupt: restart(byte, &keys)
            default: state = .string(isEmpty: false)
            }
        case .stringEscape:
            // The terminator, or the start of the next sequence.
            state = byte == UInt8(ascii: "\\") ? .ground : .escape
            if state == .escape { parse(byte, &keys) }
        case .paste(let text): continuePaste(text, byte, &keys)
        case .pasteEnd(let text, let matched): endPaste(text, matched, byte, &keys)
        }
    }

    private mutating func restart(_ byte: UInt8, _ keys: inout [Key]) {
        state = .ground
        parse(byte, &keys)
    }

    // MARK: - Text

    private mutating func parseText(_ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case Self.escape: state = .escape
        case 0x04 where isChorded: keys.append(.control("d"))
        case 0x0A where isChorded: keys.append(.control("j"))
        case 0x03, 0x04, 0x1C: keys.append(.interrupt)
        case 0x08, 0x7F: keys.append(.backspace)
        case 0x09: keys.append(.tab)
        case 0x0A, 0x0D: keys.append(.enter)
        case 0x0C: keys.append(.redraw)
        case 0x1A: keys.append(.suspend)
        case 0x01...0x1A: keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xF4: state = .text([byte])
        default: keys.append(.unknown)
        }
    }

    private mutating func continueText(_ start: [UInt8], _ byte: UInt8, _ keys: inout [Key]) {
        guard byte & 0xC0 == 0x80 else {
            keys.append(.unknown)
            return restart(byte, &keys)
        }
        let bytes = start + [byte]
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else { return state = .text(bytes) }
        state = .ground
        let text = String(validating: bytes, as: UTF8.self) ?? ""
        let isVisible = !text.unicodeScalars.contains(where: VisibleText.isHidden)
        keys.append(text.first.map { isVisible ? .character($0) : .unknown } ?? .unknown)
    }

    // MARK: - Sequences

    private mutating func afterEscape(_ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case UInt8(ascii: "["): state = .control([])
        case UInt8(ascii: "O"): state = .single(prefix: byte)
        // DCS, SOS, OSC, PM, APC.
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "]"), UInt8(ascii: "^"),
            UInt8(ascii: "_"):
            state = .string(isEmpty: true)
        case _ where isChorded && byte >= 0x80: restart(byte, &keys)
        case 0x20...0x7E where isChorded:
            state = .ground
            keys.append(.alt(Character(Unicode.Scalar(byte))))
        case 0x0A where isChorded, 0x0D where isChorded:
            state = .ground
            keys.append(.chordEnter)
        // As shells have it.
        case 0x08 where isChorded, 0x7F where isChorded:
            state = .ground
            keys.append(.control("w"))
        default:
            keys.append(.escape)
            restart(byte, &keys)
        }
    }

    private mutating func continueControl(_ start: [UInt8]?, _ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case UInt8(ascii: "[") where start == []: state = .single(prefix: byte)
        case 0x20...0x3F: state = .control(start.flatMap { $0.count < Self.longestSequence ? $0 + [byte] : nil })
        case 0x40...0x7E:
            state = .ground
            end(start, byte, &keys)
        default:
            keys.append(.unknown)
            restart(byte, &keys)
        }
    }

    private mutating func end(_ body: [UInt8]?, _ final: UInt8, _ keys: inout [Key]) {
        guard let body else { return keys.append(.unknown) }
        switch String(decoding: body + [final], as: UTF8.self) {
        case "M": state = .oldMouse(remaining: 3)
        case "200~": state = .paste([])
        // The window has or has lost the focus; the end of a paste that has not begun.
        case "I", "O", "201~": break
        case let text where isChorded && Self.chordEnters.contains(text): keys.append(.chordEnter)
        case let text: keys += MouseEvent.keys(text) ?? Self.modeReport(text) ?? [Self.controlKey(text)]
        }
    }

    /// As terminals report it that distinguish Enter with Alt or Control, in two forms (fixterms; modifyOtherKeys of
    /// xterm).
    private static let chordEnters: Set = ["13;3u", "13;5u", "27;3;13~", "27;5;13~"]

    private static func controlKey(_ text: String) -> Key {
        switch text {
        case "A": .up
        case "B": .down
        case "C": .right
        case "D": .left
        case "H", "1~", "7~": .home
        case "F", "4~", "8~": .end
        case "5~": .pageUp
        case "6~": .pageDown
        case "3~": .delete
        case "Z": .backTab
        default: functionKeys[text].map { .function($0) } ?? .unknown
        }
    }

    private static func singleKey(prefix: UInt8, _ byte: UInt8) -> Key {
        let text = String(decoding: [byte], as: UTF8.self)
        // The Linux console: ESC [ [ A is F1.
        if prefix == UInt8(ascii: "[") {
            return (0x41...0x45).contains(byte) ? .function(Int(byte) - 0x40) : .unknown
        }
        return text == "M" ? .enter : controlKey(text)
    }

    /// The answer to DECRQM; nil if the text is something else. Other answers (device attributes, positions) are no
    /// keys.
    private static func modeReport(_ text: String) -> [Key]? {
        guard text.first == "?" else { return nil }
        let numbers = text.dropFirst().dropLast(2).split(separator: ";").compactMap { Int($0) }
        guard text.hasSuffix("$y"), numbers.count == 2 else { return [] }
        // 1: set, 2: reset; 0 is unknown and 3 and 4 cannot be changed.
        return [.mode(numbers[0], isSupported: numbers[1] == 1 || numbers[1] == 2)]
    }

    /// The sequences of xterm and the VT220, without what begins them.
    private static let functionKeys = [
        "P": 1, "Q": 2, "R": 3, "S": 4, "11~": 1, "12~": 2, "13~": 3, "14~": 4, "15~": 5,
        "17~": 6, "18~": 7, "19~": 8, "20~": 9, "21~": 10, "23~": 11, "24~": 12,
    ]

    // MARK: - Pasted text

    private mutating func continuePaste(_ text: [UInt8], _ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case Self.escape: state = .pasteEnd(text: text, matched: 1)
        // The way out of a paste whose end was lost.
        case Self.interrupt: restart(byte, &keys)
        default: state = .paste(text.count < Self.longestPaste ? text + [byte] : text)
        }
    }

    private mutating func endPaste(_ text: [UInt8], _ matched: Int, _ byte: UInt8, _ keys: inout [Key]) {
        guard byte == Self.pasteEnd[matched] else {
            state = .paste(text)
            return parse(byte, &keys)
        }
        guard matched + 1 == Self.pasteEnd.count else { return state = .pasteEnd(text: text, matched: matched + 1) }
        state = .ground
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let visible = lines.joined(separator: " ").unicodeScalars
            .filter { !VisibleText.isHidden($0) && $0 != "\u{FFFD}" }
        if !visible.isEmpty { keys.append(.paste(String(String.UnicodeScalarView(visible)))) }
    }
}

extension MouseEvent {
    /// SGR mouse events (xterm mode 1006), of which only presses and the wheel are keys; nil if the text is something
    /// else.
    fileprivate static func keys(_ text: String) -> [Key]? {
        guard text.first == "<", let final = text.last, final == "M" || final == "m" else { return nil }
        let numbers = text.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
        guard numbers.count == 3, numbers[1] >= 1, numbers[2] >= 1, final == "M" else { return [] }
        // Shift, Meta and Control make no difference.
        let actions: [Int: Action] = [0: .press, 64: .wheelUp, 65: .wheelDown]
        guard let action = actions[numbers[0] & ~0x1C] else { return [] }
        return [.mouse(MouseEvent(action: action, column: numbers[1] - 1, row: numbers[2] - 1))]
    }
}
