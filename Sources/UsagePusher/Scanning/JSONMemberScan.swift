import Essentials

/// Cuts some members out of a JSON object of any size, in one pass over its bytes and with bounded memory.
///
/// Reads structure only as far as needed to tell where a value ends; the members are then `JSONFields`, which alone
/// would need several times the document's size.
struct JSONMemberScan {
    private static let nameByteLimit = 256
    /// A longer value is left out.
    private static let valueByteLimit = 1_048_576

    private let wanted: Set<String>
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var expectsName = false
    /// The name of the member under way, while it is read.
    private var isInName = false
    private var name: [UInt8] = []
    /// The value under way, if it is wanted.
    private var value: [UInt8]?
    private var members: [UInt8] = [UInt8(ascii: "{")]
    private var isObject: Bool?

    init(_ wanted: Set<String>) { self.wanted = wanted }

    /// An object with the wanted members; nil unless everything was one JSON object.
    var object: Data? {
        guard isObject == true, depth == 0, !isInString else { return nil }
        return Data(members + [UInt8(ascii: "}")])
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // A mark that is cut in two makes the first byte an unknown one.
        let start = isObject == nil ? TextStart.byteCount(of: bytes) : 0
        for byte in UnsafeRawBufferPointer(rebasing: bytes[start...]) {
            if isInString { addToString(byte) } else { addStructure(byte) }
        }
    }

    @inline(__always)
    private mutating func addToString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            if isInName {
                isInName = false
                return
            }
        }
        if isInName, name.count < Self.nameByteLimit { name.append(byte) }
        keep(byte)
    }

    @inline(__always)
    private mutating func addStructure(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            if depth == 1, expectsName {
                isInName = true
                expectsName = false
                name.removeAll(keepingCapacity: true)
            }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isObject == nil { isObject = byte == UInt8(ascii: "{") }
            depth += 1
            expectsName = depth == 1
            if depth == 1 { return }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth <= 0 {
                endMember()
                if depth < 0 { isObject = false }
                return
            }
        case UInt8(ascii: ",") where depth == 1:
            endMember()
            expectsName = true
            return
        case UInt8(ascii: ":") where depth == 1:
            if wanted.contains(String(decoding: name, as: UTF8.self)) { value = [] }
            return
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
            return
        default:
            if depth == 0 { isObject = isObject ?? false }
        }
        if !isInName { keep(byte) }
    }

    @inline(__always)
    private mutating func keep(_ byte: UInt8) {
        guard value != nil else { return }
        value?.append(byte)
        if let count = value?.count, count > Self.valueByteLimit { value = nil }
    }

    private mutating func endMember() {
        guard let value, !value.isEmpty else { return }
        if members.count > 1 { members.append(UInt8(ascii: ",")) }
        members += [UInt8(ascii: "\"")] + name + [UInt8(ascii: "\""), UInt8(ascii: ":")] + value
        self.value = nil
    }
}
