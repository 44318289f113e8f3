import Essentials

/// What is checked of a JSON text before it is decoded: nesting, that it is UTF-8 by its first bytes, and that no
/// object has a field twice. One pass, which leaves all else that may be wrong to the decoder.
enum JSONStructure {
    /// Where a field's name is, without its quotes; nil where an object begins.
    private typealias Name = Range<Int>?

    /// Throws for arrays and objects nested deeper than the limit, for a field that an object has twice, for a byte
    /// order mark, and for a NUL byte: UTF-8 text of JSON has none, but a decoder would take it for UTF-16, in which
    /// this scan sees no structure.
    static func check(_ data: Data, depthLimit: Int) throws(WireError) {
        guard !data.starts(with: [0xEF, 0xBB, 0xBF]) else { throw .notJSON }
        let hasZero = data.withUnsafeBytes { JSONBytes.hasZero($0) }
        guard !hasZero else { throw .notJSON }
        // On the stack; few documents have more fields in the objects that are open at a time.
        var capacity = 40
        while true {
            let result = withUnsafeTemporaryAllocation(of: Name.self, capacity: capacity) { names in
                data.withUnsafeBytes { bytes in
                    Result { () throws(WireError) in try check(bytes, depthLimit, names) }
                }
            }
            if try result.get() { return }
            capacity *= 16
        }
    }

    /// Returns false if there are more names than the buffer has space for.
    private static func check(
        _ bytes: UnsafeRawBufferPointer, _ depthLimit: Int, _ names: UnsafeMutableBufferPointer<Name>
    ) throws(WireError) -> Bool {
        var text = JSONBytes(bytes)
        let start = text.position
        var (depth, nameCount) = (0, 0)
        var string = 0..<0
        while true {
            let byte = text.next()
            switch byte {
            case 0: return true
            case UInt8(ascii: "\""):
                guard let found = text.string() else { return true }
                let end = text.position - 1 - start
                string = end - found.count..<end
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > depthLimit { throw .tooDeep(limit: depthLimit) }
                guard byte == UInt8(ascii: "{") else { break }
                guard nameCount < names.count else { return false }
                names.initializeElement(at: nameCount, to: nil)
                nameCount += 1
            case UInt8(ascii: ":"):
                guard nameCount < names.count else { return false }
                names.initializeElement(at: nameCount, to: string)
                nameCount += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "}"):
                depth -= 1
                let open = UnsafeMutableBufferPointer(rebasing: names[..<nameCount])
                // More objects end than begin: the decoder says so.
                guard let opening = open.lastIndex(where: { $0 == nil }) else { return true }
                try checkNames(UnsafeMutableBufferPointer(rebasing: open[(opening + 1)...]), bytes)
                nameCount = opening
            default: break
            }
            text.advance()
        }
    }

    /// Sorts the names, so that equal ones are neighbors.
    private static func checkNames(
        _ names: UnsafeMutableBufferPointer<Name>, _ bytes: UnsafeRawBufferPointer
    ) throws(WireError) {
        guard names.count > 1 else { return }
        func text(_ name: Name) -> Slice<UnsafeRawBufferPointer> { bytes[name ?? 0..<0] }
        if names.contains(where: { text($0).contains(UInt8(ascii: "\\")) }) {
            var known: Set<[UInt8]> = []
            for name in names {
                let literal = Data("\"".utf8) + text(name) + Data("\"".utf8)
                guard let name = try? JSONDecoder().decode(String.self, from: literal) else {  // the decoder refuses it
                    continue
                }
                // Not as strings, which are equal in more cases.
                guard known.insert(Array(name.utf8)).inserted else { throw .repeatedField }
            }
            return
        }
        var sorted = names
        sorted.sort { text($0).lexicographicallyPrecedes(text($1)) }
        for index in 1..<names.count where text(names[index - 1]).elementsEqual(text(names[index])) {
            throw .repeatedField
        }
    }
}
