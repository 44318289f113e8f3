import Essentials

/// A link as Airmail makes them: `airmail://message?mail={address}&messageid={id}`.
///
/// Only the id is kept. Scheme and parameters are found as RFC 3986 says; whatever stands for the host, and all other
/// parameters, are ignored.
struct AirmailLink: Equatable, Sendable {
    /// Percent-encoded as in the link; what may not stand in a URL as it is there is encoded, and so is `?`, which
    /// would begin a query. Never empty.
    let encodedID: String

    /// The length of the whole link.
    static let byteLimit = 16 * 1_024
    static let scheme = "airmail"

    init(_ text: String) throws(LinkError) {
        guard text.utf8.count <= Self.byteLimit else { throw .invalidURLConstruction(.tooLong) }
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            text[..<colon].lowercased() == Self.scheme
        else { throw .invalidScheme }
        let reference = bytes[bytes.index(after: colon)...].prefix { $0 != UInt8(ascii: "#") }
        guard let mark = reference.firstIndex(of: UInt8(ascii: "?")) else { throw .missingMessageID }
        let parameters = reference[reference.index(after: mark)...].split(separator: UInt8(ascii: "&"))
        let name = Array("messageid".utf8)
        guard let found = parameters.first(where: { $0.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name) }) else {
            throw .missingMessageID
        }
        let value = found.dropFirst(name.count + 1)
        guard !value.isEmpty else { throw .emptyMessageID }
        encodedID = try Self.encode(value)
    }

    /// The id without the angle brackets of a mail's header.
    ///
    /// - Throws: `emptyMessageID` if there is nothing between them.
    func bareID() throws(LinkError) -> String {
        let bytes = encodedID.lowercased().utf8
        guard bytes.starts(with: "%3c".utf8), bytes.suffix(3).elementsEqual("%3e".utf8),
            bytes.count >= 6
        else { return encodedID }
        let bare = encodedID.dropFirst(3).dropLast(3)
        guard !bare.isEmpty else { throw .emptyMessageID }
        return String(bare)
    }

    /// The bare id as text, for those who take it literally.
    ///
    /// - Throws: `invalidURLConstruction` for control characters and for what is not UTF-8.
    func decodedID() throws(LinkError) -> String {
        guard let text = PercentEncoding.decode(try bareID()) else { throw .invalidURLConstruction(.notText) }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .invalidURLConstruction(.controlCharacter) }
        return text
    }

    // MARK: Characters of URLs

    /// Encodes what may not stand in a path of a URL; `%` with two digits stays as it is.
    ///
    /// - Throws: `invalidURLConstruction` for control characters and for `%` without digits.
    private static func encode(_ bytes: Substring.UTF8View) throws(LinkError) -> String {
        var digits = 0
        for byte in bytes {
            if digits > 0 {
                guard Character(Unicode.Scalar(byte)).isHexDigit else {
                    throw .invalidURLConstruction(.malformedEncoding)
                }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if byte < 0x20 || byte == 0x7F {
                throw .invalidURLConstruction(.controlCharacter)
            }
        }
        guard digits == 0 else { throw .invalidURLConstruction(.malformedEncoding) }
        return PercentEncoding.encode(String(Substring(bytes))) { $0 == UInt8(ascii: "%") || isPathCharacter($0) }
    }

    /// Which bytes stand in a path of a URL as they are (RFC 3986, section 3.3).
    static func isPathCharacter(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=:@/".utf8.contains(byte)
    }
}
