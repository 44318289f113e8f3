/// Why a snapshot could not be written or read.
public enum SnapshotCodecError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The document is larger than the store keeps under one key.
    case tooLarge(bytes: Int, limit: Int)
    /// The document is nested deeper than any snapshot is.
    case tooDeep(limit: Int)
    /// The bytes are not a snapshot; says what is wrong and where.
    case notASnapshot(reason: String)
    /// The encoder refused the value; says why.
    case notEncodable(reason: String)

    public var description: String {
        switch self {
        case .tooLarge(let bytes, let limit):
            "the usage snapshot has \(bytes) bytes, the limit is \(limit): "
                + "push fewer providers or fewer cost days"
        case .tooDeep(let limit):
            "the usage snapshot is nested deeper than \(limit) levels: "
                + "the key holds something else, push again"
        case .notASnapshot(let reason):
            "the value is not a usage snapshot (\(reason)): push again, or update this program"
        case .notEncodable(let reason):
            "the usage snapshot cannot be written as JSON (\(reason))"
        }
    }
}
