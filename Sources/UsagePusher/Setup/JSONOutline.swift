/// The structure of a JSON document (RFC 8259) with the byte range of every value, so that a part
/// of it can be edited while all other bytes stay. Also says where a document is invalid, which Foundation does not.
struct JSONOutline: Sendable, Equatable {
    struct Node: Sendable, Equatable {
        var range: Range<Int>
        /// In the order of the text, duplicate names included; nil unless it is an object.
        var members: [Member]?
        /// Nil unless it is an array.
        var items: [Node]?
        var isString = false

        /// The members, each with its name, or the items.
        var parts: [Range<Int>] {
            members?.map { $0.name.lowerBound..<$0.value.range.upperBound } ?? items?.map(\.range) ?? []
        }
    }

    struct Member: Sendable, Equatable {
        /// The range of the name with its quotation marks.
        var name: Range<Int>
        var value: Node
    }

    static let depthLimit = 256

    let bytes: [UInt8]
    let root: Node

    /// A byte order mark is accepted. Comments and trailing commas are errors.
    init(_ bytes: [UInt8]) throws(JSONDocumentError) {
        self.bytes = bytes
        if let offset = Self.invalidUTF8(bytes) {
            throw JSONDocumentError("invalid UTF-8", at: offset, in: bytes)
        }
        var scanner = JSONScanner(bytes)
        root = try scanner.document()
    }

    /// The member that counts: of several with the same name, parsers take the last.
    func member(_ name: String, of node: Node) -> Member? {
        node.members?.last { text($0.name) == name }
    }

    /// The value of a string; nil for a value of another kind.
    func text(_ range: Range<Int>) -> String? { WrittenString(bytes[range])?.string }

    func error(_ reason: String, at range: Range<Int>) -> JSONDocumentError {
        JSONDocumentError(reason, at: range.lowerBound, in: bytes)
    }

    private static func invalidUTF8(_ bytes: [UInt8]) -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            offset += UTF8.width(scalar)
        }
        return offset
    }
}

/// Where and why a JSON document is invalid or not as expected.
package struct JSONDocumentError: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// Both from 1; columns are characters.
    package let line: Int
    package let column: Int

    init(_ reason: String, at offset: Int, in bytes: [UInt8]) {
        self.reason = reason
        let before = bytes.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        column = String(decoding: bytes[start..<before.endIndex], as: UTF8.self).count + 1
    }

    package var description: String { "line \(line), column \(column): \(reason)" }
}

private struct JSONScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONDocumentError) -> JSONOutline.Node {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try skipWhitespace()
        if position == bytes.count { throw failure("the file is empty") }
        let node = try value(depth: 0)
        try skipWhitespace()
        guard position == bytes.count else { throw failure("text after the end of the document") }
        return node
    }

    private mutating func value(depth: Int) throws(JSONDocumentError) -> JSONOutline.Node {
        guard depth < JSONOutline.depthLimit else { throw failure("nested too deeply") }
        let start = position
        switch next {
        case UInt8(ascii: "{"):
            let members = try members(depth: depth)
            return JSONOutline.Node(range: start..<position, members: members)
        case UInt8(ascii: "["):
            let items = try items(depth: depth)
            return JSONOutline.Node(range: start..<position, items: items)
        case UInt8(ascii: "\""):
            try skipString()
            return JSONOutline.Node(range: start..<position, isString: true)
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        case UInt8(ascii: "-"): try skipNumber()
        case _ where isDigit: try skipNumber()
        default: throw failure("a value is expected")
        }
        return JSONOutline.Node(range: start..<position)
    }

    private mutating func members(depth: Int) throws(JSONDocumentError) -> [JSONOutline.Member] {
        position += 1
        try skipWhitespace()
        var members: [JSONOutline.Member] = []
        if skipIfNext("}") { return members }
        repeat {
            try skipWhitespace()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw failure("a name in quotes is expected") }
            try skipString()
            let name = start..<position
            try skipWhitespace()
            guard skipIfNext(":") else { throw failure("a colon is expected") }
            try skipWhitespace()
            members.append(JSONOutline.Member(name: name, value: try value(depth: depth + 1)))
            try skipWhitespace()
        } while skipIfNext(",")
        guard skipIfNext("}") else { throw failure("a comma or a closing brace is expected") }
        return members
    }

    private mutating func items(depth: Int) throws(JSONDocumentError) -> [JSONOutline.Node] {
        position += 1
        try skipWhitespace()
        var items: [JSONOutline.Node] = []
        if skipIfNext("]") { return items }
        repeat {
            try skipWhitespace()
            items.append(try value(depth: depth + 1))
            try skipWhitespace()
        } while skipIfNext(",")
        guard skipIfNext("]") else { throw failure("a comma or a closing bracket is expected") }
        return items
    }

    private mutating func skipString() throws(JSONDocumentError) {
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try skipEscape()
            case 0..<0x20: throw failure("a control character in a string")
            default: position += 1
            }
        }
        throw failure("the string is not closed")
    }

    private mutating func skipEscape() throws(JSONDocumentError) {
        let start = position
        position += 2
        let kind = start + 1 < bytes.count ? bytes[start + 1] : 0
        if kind == UInt8(ascii: "u") {
            let digits = bytes[min(position, bytes.count)...].prefix(4)
            position += 4
            if digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
                return
            }
        } else if "\"\\/bfnrt".utf8.contains(kind) {
            return
        }
        position = start
        throw failure("an unknown escape in a string")
    }

    private mutating func skipNumber() throws(JSONDocumentError) {
        _ = skipIfNext("-")
        if skipIfNext("0") {
            if isDigit { throw failure("a number with a leading zero") }
        } else {
            try skipDigits()
        }
        if skipIfNext(".") { try skipDigits() }
        if skipIfNext("e") || skipIfNext("E") {
            if !skipIfNext("+") { _ = skipIfNext("-") }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(JSONDocumentError) {
        guard isDigit else { throw failure("a digit is expected") }
        while isDigit { position += 1 }
    }

    private mutating func skip(_ literal: StaticString) throws(JSONDocumentError) {
        let literal = literal.description.utf8
        guard bytes[position...].starts(with: literal) else { throw failure("a value is expected") }
        position += literal.count
    }

    private mutating func skipWhitespace() throws(JSONDocumentError) {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
        if next == UInt8(ascii: "/") { throw failure("comments are not valid in JSON") }
    }

    private mutating func skipIfNext(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isDigit: Bool { next.map { (48...57).contains($0) } ?? false }

    private func failure(_ reason: String) -> JSONDocumentError {
        JSONDocumentError(reason, at: position, in: bytes)
    }
}
