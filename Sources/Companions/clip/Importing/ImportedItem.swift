import Essentials

/// An item as another clipboard manager has it.
struct ImportedItem {
    /// All types and their data, as markers of secrets are types too, and the application where it was copied.
    var offer: Offer
    /// Nil where the tool notes no times.
    var first: Timestamp?
    var last: Timestamp?
    var copies = 1
    var pin: PinState.Pin?
    /// For contents of which none can be derived.
    var title: String?

    var byteCount: Int { offer.data.reduce(0) { $0 + $1.data.count } }
}

/// What was read of another tool's history.
struct ImportedItems {
    /// The newest first, and for items without times in the order of the tool.
    private(set) var items: [ImportedItem] = []
    /// Items that were not read, by the reason. Reasons are fixed texts.
    private(set) var unread: [String: Int] = [:]
    private var byteCount = 0

    /// The largest item that the cache of this machine keeps.
    static let itemByteLimit = ContentCache.contentsByteLimit
    /// For all items together, which are in memory at the same time.
    static let byteLimit = 256 << 20
    /// More than a history keeps, as some are not kept and others are the same.
    static let itemLimit = 10_000

    /// An item without contents, or for which there is no room, is only counted.
    mutating func append(_ item: ImportedItem) {
        if isFull {
            skip(Self.tooOld)
        } else if item.byteCount > Self.itemByteLimit {
            skip(Self.tooLarge)
        } else if item.offer.data.isEmpty {
            skip("has no contents")
        } else {
            items.append(item)
            byteCount += item.byteCount
        }
    }

    mutating func skip(_ reason: String, _ count: Int = 1) {
        if count > 0 { unread[reason, default: 0] += count }
    }

    var isFull: Bool { items.count >= Self.itemLimit || byteCount >= Self.byteLimit }

    var readCount: Int { items.count + unread.values.reduce(0, +) }

    static let tooOld = "older than what is read at once"
    static let tooLarge = "larger than 32 MiB"
}

/// Why a history could not be imported.
struct ImportError: ReportableError, Equatable {
    let path: String
    /// What is wrong, and what to do.
    let reason: String
    var exitStatus = ExitStatus.dataError

    static func missing(_ path: String) -> Self {
        Self(path: path, reason: "no such file; check the path", exitStatus: .noInput)
    }

    var description: String { "cannot import \(path): \(reason)" }
}

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
