/// What may precede another program's text and is no part of it: a byte order mark, which editors and Windows
/// PowerShell write, and before it the zeros that a crash leaves where a file had grown.
enum TextStart {
    /// In UTF-8.
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The bytes before a text.
    static func byteCount(of bytes: some Collection<UInt8>) -> Int {
        let text = bytes.drop { $0 == 0 }
        return bytes.count - text.count + (text.starts(with: mark) ? mark.count : 0)
    }

    /// Whether a text that begins with ASCII is in UTF-16, after its mark or without one.
    static func isWide(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 4 else { return false }
        let areZero = (bytes[2] == 0, bytes[3] == 0)
        guard areZero.0 != areZero.1 else { return false }
        let isMarked = areZero.1 ? bytes[0] == 0xFF && bytes[1] == 0xFE : bytes[0] == 0xFE && bytes[1] == 0xFF
        return isMarked || (bytes[0] == 0, bytes[1] == 0) == areZero
    }
}
