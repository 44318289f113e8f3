/// How deep a JSON document nests, found in one pass over its bytes without recursion, so that a
/// decoder is given only documents that it can hold.
enum JSONDepth {
    /// Whether arrays and objects nest at most `limit` deep. Says nothing else about the document.
    static func isWithin(_ limit: Int, _ bytes: some Sequence<UInt8>) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > limit { return false }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return true
    }
}
