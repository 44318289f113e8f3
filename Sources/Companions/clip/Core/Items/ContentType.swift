/// The type of one representation of a copy: a MIME type, or a clipboard's own name for a marker.
///
/// Different names for the same bytes become one: `UTF8_STRING`, `text/plain;charset=utf-8` and Apple's
/// `public.utf8-plain-text` are `text/plain`.
struct ContentType: RawRepresentable, Hashable, Sendable, Comparable {
    /// At most `byteLimit` bytes.
    let rawValue: String
    static let byteLimit = 128

    init(rawValue: String) {
        let name = rawValue.prefix(utf8Bytes: Self.byteLimit)
        let base = name.prefix { $0 != ";" }
        let parameters = name.dropFirst(base.count).lowercased().filter { $0 != " " && $0 != "\"" }
        let isPlain = parameters.isEmpty || [";charset=utf-8", ";charset=utf8"].contains(parameters)
        let mime = base.contains("/") ? base.lowercased() : String(base)
        self.rawValue = isPlain ? Self.aliases[mime] ?? mime : name
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    static let text = Self(rawValue: "text/plain")
    static let html = Self(rawValue: "text/html")
    static let rtf = Self(rawValue: "text/rtf")
    static let files = Self(rawValue: "text/uri-list")
    /// A line `copy` or `cut`, then URLs of files.
    static let gnomeFiles = Self(rawValue: "x-special/gnome-copied-files")
    static let png = Self(rawValue: "image/png")
    static let jpeg = Self(rawValue: "image/jpeg")

    private static let aliases = [
        "UTF8_STRING": "text/plain", "public.utf8-plain-text": "text/plain", "public.html": "text/html",
        "public.rtf": "text/rtf", "application/rtf": "text/rtf", "text/richtext": "text/rtf",
        "public.file-url": "text/uri-list", "public.png": "image/png", "public.tiff": "image/tiff",
        "public.jpeg": "image/jpeg", "image/jpg": "image/jpeg", "public.heic": "image/heic",
    ]

    // MARK: Kinds

    enum Kind: Sendable { case text, html, rtf, image, files }

    /// Nil for a type that a history does not keep.
    var kind: Kind? {
        switch self {
        case .text: .text
        case .html: .html
        case .rtf: .rtf
        case .files, .gnomeFiles: .files
        default: Self.images.contains(rawValue) ? .image : nil
        }
    }

    private static let images: Set = ["image/png", "image/tiff", "image/jpeg", "image/heic"]

    /// Whether the type says something about a copy and is no part of what was copied: two copies that differ only in
    /// it are the same.
    var isTransient: Bool { Self.transient.contains(rawValue) }

    private static let transient: Set = [
        "x.nspasteboard.ModifiedType", "org.p0deje.Maccy", "com.apple.linkpresentation.metadata",
        "com.apple.WebKit.custom-pasteboard-data", "org.nspasteboard.source", "org.chromium.web-custom-data",
        "org.chromium.source-url", "org.chromium.internal.source-rfh-token", "com.apple.notes.richtext",
        "chromium/x-source-url", "chromium/x-internal-source-rfh-token", "SAVE_TARGETS", "TIMESTAMP", "TARGETS",
        "MULTIPLE", "DELETE",
    ]
}

/// Which kinds of contents are kept.
struct EnabledKinds: OptionSet, Hashable, Sendable {
    let rawValue: Int

    static let files = Self(rawValue: 1)
    static let images = Self(rawValue: 2)
    /// Plain text, HTML and RTF.
    static let text = Self(rawValue: 4)
    static let all: Self = [.files, .images, .text]

    func allow(_ kind: ContentType.Kind) -> Bool {
        switch kind {
        case .files: contains(.files)
        case .image: contains(.images)
        case .text, .html, .rtf: contains(.text)
        }
    }
}
