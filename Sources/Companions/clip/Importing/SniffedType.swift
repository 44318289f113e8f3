import Essentials

extension ContentType {
    /// The type of bytes whose type was not noted: that of an image by its signature, text if they are UTF-8 without a
    /// zero, else none that a history keeps.
    ///
    /// - Parameter noted: a type of text, which is taken for text of any type.
    init(sniffing data: Data, noted: String? = nil) {
        if let image = Self.image(data) {
            self.init(rawValue: image)
        } else if !data.contains(0), data.withUnsafeBytes({ Self.isText($0) }) {
            self.init(rawValue: noted.flatMap { $0.hasPrefix("text/") ? $0 : nil } ?? "text/plain")
        } else {
            self.init(rawValue: "application/octet-stream")
        }
    }

    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    /// By the first bytes (WHATWG MIME Sniffing, 6.1; TIFF 6.0, section 2; ISO/IEC 23008-12, brands of HEIC).
    private static func image(_ data: Data) -> String? {
        let head = Array(data.prefix(16))
        func has(_ bytes: some Sequence<UInt8>, at offset: Int = 0) -> Bool {
            head.dropFirst(offset).starts(with: bytes)
        }
        if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has([0x49, 0x49, 0x2A, 0]) || has([0x4D, 0x4D, 0, 0x2A]) { return "image/tiff" }
        if has("ftyp".utf8, at: 4) {
            return ["heic", "heix", "mif1"].contains { has($0.utf8, at: 8) } ? "image/heic" : nil
        }
        if has("GIF87a".utf8) || has("GIF89a".utf8) { return "image/gif" }
        if has("RIFF".utf8), has("WEBP".utf8, at: 8) { return "image/webp" }
        return nil
    }
}
