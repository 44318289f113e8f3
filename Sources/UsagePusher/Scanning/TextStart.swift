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
}
