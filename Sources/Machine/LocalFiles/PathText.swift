/// File names of any bytes as text that leads back to the same file.
///
/// A byte that is not part of valid UTF-8 becomes the private-use scalar U+10FF00 + byte; so does
/// each byte of such a scalar in a name. Every other scalar stands for itself.
package enum PathText {
    private static let escapes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF
    /// The first byte of all escapes, and of few other scalars.
    private static let firstByte: UInt8 = 0xF4

    package static func decode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { decode($0) } }

    package static func decode(_ bytes: UnsafeRawBufferPointer) -> String {
        if !bytes.contains(firstByte), let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        func escape(_ bytes: ArraySlice<UInt8>) {
            for byte in bytes { text.append(Unicode.Scalar(0x10FF00 + UInt32(byte))!) }
        }
        var rest = Array(bytes)[...]
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = rest.makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let units):
                let scalar = Unicode.UTF8.decode(units)
                if escapes.contains(scalar.value) {
                    escape(rest.prefix(units.count))
                } else {
                    text.append(scalar)
                }
                rest.removeFirst(units.count)
            case .error(let count):
                escape(rest.prefix(count))
                rest.removeFirst(count)
            case .emptyInput: return String(text)
            }
        }
    }

    /// The inverse of `decode`.
    package static func encode(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            escapes.contains(scalar.value) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(UTF8.encode(scalar)!)
        }
    }

    /// Calls `body` with the path as the system knows it.
    package static func withCString<Result>(_ path: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        guard path.utf8.contains(firstByte) else { return path.withCString(body) }
        return (encode(path) + [0]).withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
}
