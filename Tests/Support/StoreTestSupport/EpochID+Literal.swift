public import KVStoreCore

/// Epochs that tests and transcripts can name: "e", "epoch 0".
extension EpochID: ExpressibleByStringLiteral {
    /// Packs up to eight ASCII characters.
    public init(stringLiteral name: String) {
        precondition(name.utf8.count <= 8 && name.utf8.allSatisfy { 1..<0x80 ~= $0 })
        self.init(rawValue: name.utf8.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The text of the literal.
    package var name: String {
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }
        return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
    }
}
