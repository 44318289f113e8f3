package import Essentials
import KVStoreCore

/// A document that writes its JSON text itself: those of every request and event, for which `JSONEncoder` takes longer
/// than the daemon for everything else. Fields are written in the order of their names, as `WireJSON.encode` sorts
/// them.
package protocol JSONDocument {
    func write(to text: inout JSONText)
}

/// JSON text under construction: one line of UTF-8 without spaces. Slashes are not escaped, so base64 does not grow.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    package init(reserving byteCount: Int = 0) { bytes.reserveCapacity(byteCount) }

    /// Everything but strings: the parts that a document consists of.
    package mutating func write(literal: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    package mutating func write(_ number: some BinaryInteger) {
        bytes.append(contentsOf: "\(number)".utf8)
    }

    package mutating func write(_ flag: Bool) { write(literal: flag ? "true" : "false") }

    /// A string of characters that need no escape.
    package mutating func write(plain text: String) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string, escaped as RFC 8259, section 7, requires.
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x08: write(literal: "\\b")
            case 0x09: write(literal: "\\t")
            case 0x0A: write(literal: "\\n")
            case 0x0C: write(literal: "\\f")
            case 0x0D: write(literal: "\\r")
            case 0..<0x20:
                write(literal: "\\u00")
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string in base64.
    package mutating func write(_ data: Data) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: data.base64EncodedData())
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func write(_ elements: [some JSONDocument]) {
        write(literal: "[")
        for (index, element) in elements.enumerated() {
            if index > 0 { write(literal: ",") }
            element.write(to: &self)
        }
        write(literal: "]")
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
