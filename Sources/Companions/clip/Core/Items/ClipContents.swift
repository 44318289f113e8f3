import Essentials

/// What was copied: bytes by type, sorted by type, each type once.
struct ClipContents: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let type: ContentType
        let data: Data

        init(_ type: ContentType, _ data: Data) { (self.type, self.data) = (type, data) }

        init(_ type: ContentType, _ text: String) { self.init(type, Data(text.utf8)) }
    }

    let parts: [Part]
    static let partLimit = 16

    /// Keeps the first part of each type, and at most `partLimit` parts: the first by type.
    init(_ parts: some Sequence<Part>) {
        var seen: Set<ContentType> = []
        self.parts = Array(
            parts.filter { seen.insert($0.type).inserted }.sorted { $0.type < $1.type }
                .prefix(Self.partLimit))
    }

    init(text: String) { self.init([Part(.text, text)]) }

    subscript(type: ContentType) -> Data? { parts.first { $0.type == type }?.data }

    func text(_ type: ContentType) -> String? { self[type].map { String(decoding: $0, as: UTF8.self) } }

    var byteCount: Int { parts.reduce(0) { $0 + $1.data.count } }

    // MARK: Identity

    /// Without what only says something about the copy.
    private var lasting: [Part] { parts.filter { !$0.type.isTransient } }

    /// Whether there is anything in it but markers.
    var isLasting: Bool { !lasting.isEmpty }

    /// The same for every copy of the same contents, on each device: for each part, ordered by type, the length and
    /// bytes of the type and of the data; lengths are 32 bits, least significant byte first.
    var canonicalBytes: Data {
        var bytes = Data()
        for part in lasting {
            for field in [Data(part.type.rawValue.utf8), part.data] {
                withUnsafeBytes(of: UInt32(clamping: field.count).littleEndian) {
                    bytes.append(contentsOf: $0)
                }
                bytes.append(field)
            }
        }
        return bytes
    }

    /// Whether all that lasts of other contents is in these, with equal bytes. Contents of markers alone are superseded
    /// by none, where the rule taken literally would have them superseded by all.
    func supersede(_ other: ClipContents) -> Bool {
        let lasting = other.lasting
        return !lasting.isEmpty && lasting.allSatisfy { self[$0.type] == $0.data }
    }
}

/// The name of an item in the store: the same copy has the same on each device.
///
/// `i/` and 22 characters of base64url: the first 128 bits of a SHA-256 digest of the canonical contents. The sealed
/// store keys it, so that who has no content key cannot test guesses.
struct ItemKey: Hashable, Comparable, Sendable {
    let name: String

    /// - Parameter digest: of `ClipContents.canonicalBytes`, at least 16 bytes.
    init(digest: some Sequence<UInt8>) {
        let bytes = Data(digest.prefix(16))
        precondition(bytes.count == 16, "a digest has at least 128 bits")
        let text = bytes.base64EncodedString().prefix(22).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        name = "i/" + String(text)
    }

    /// Nil unless the name is a key of an item.
    init?(name: String) {
        guard name.utf8.count == 24, name.hasPrefix("i/"),
            name.utf8.dropFirst(2).allSatisfy({ Self.alphabet.contains($0) })
        else { return nil }
        self.name = name
    }

    private static let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}
