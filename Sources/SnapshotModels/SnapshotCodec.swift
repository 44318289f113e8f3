public import Essentials

/// Encodes and decodes snapshots. All functions are pure and may be called from any thread.
///
/// The bytes are UTF-8 JSON with sorted keys, without absent values, dates in ISO 8601 in whole
/// seconds of UTC ("2026-09-18T12:00:00Z"). Decoding is lenient about every field (see
/// `SnapshotReading`) and strict about size and depth.
///
/// ```swift
/// let data = try SnapshotCodec.encode(snapshot)
/// let reading = try SnapshotCodec.decodeCountingSkips(data)
/// print(reading.snapshot.deviceName, reading.skippedProviders)    // desk 0
/// ```
public enum SnapshotCodec {
    /// Encodes the normalized snapshot, see `normalized()`.
    public static func encode(_ snapshot: SyncedUsageSnapshot) throws(SnapshotCodecError) -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(snapshot.normalized())
        } catch {
            throw .notEncodable(reason: String(describing: error))
        }
        guard data.count <= SnapshotLimits.documentBytes else {
            throw .tooLarge(bytes: data.count, limit: SnapshotLimits.documentBytes)
        }
        return data
    }

    /// Decodes a snapshot; unreadable parts are left out.
    public static func decode(_ data: Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot {
        try decodeCountingSkips(data).snapshot
    }

    /// Decodes a snapshot and counts the providers and windows that had to be left out.
    public static func decodeCountingSkips(_ data: Data) throws(SnapshotCodecError) -> SnapshotReading {
        try reading(data, includingCosts: true)
    }

    private static func reading(_ data: Data, includingCosts: Bool) throws(SnapshotCodecError) -> SnapshotReading {
        guard data.count <= SnapshotLimits.documentBytes else {
            throw .tooLarge(bytes: data.count, limit: SnapshotLimits.documentBytes)
        }
        switch JSONShape.check(data, depthLimit: SnapshotLimits.nestingDepth) {
        case .acceptable: break
        case .tooDeep: throw .tooDeep(limit: SnapshotLimits.nestingDepth)
        case .notUTF8: throw .notASnapshot(reason: "it is not UTF-8 text")
        }
        do {
            let decoder = JSONDecoder()
            if !includingCosts { decoder.userInfo[.leavesOutCosts] = true }
            return try decoder.decode(SnapshotReading.self, from: data)
        } catch let error as DecodingError {
            throw .notASnapshot(reason: error.placeAndReason)
        } catch {
            throw .notASnapshot(reason: String(describing: error))
        }
    }

    /// Decodes a snapshot without its costs, which are most of it, for readers that need it at once.
    package static func decodeWithoutCosts(_ data: Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot {
        try reading(data, includingCosts: false).snapshot
    }

    /// The snapshot in a stored value; nil when there is no value, or it is not a snapshot.
    public static func read(_ data: Data?) -> SyncedUsageSnapshot? {
        data.flatMap { try? decode($0) }  // What is no snapshot counts as none here.
    }
}

extension DecodingError {
    /// "providers: Expected to decode Array…", without the value itself.
    fileprivate var placeAndReason: String {
        let context: Context
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found),
            .keyNotFound(_, let found), .dataCorrupted(let found):
            context = found
        @unknown default:
            return "unreadable"
        }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
    }
}

/// Why a snapshot could not be encoded or decoded.
///
/// ```swift
/// do throws(SnapshotCodecError) {
///     print(try SnapshotCodec.decode(Data("{}".utf8)).deviceName)
/// } catch {
///     print(error)    // the value is not a usage snapshot (…): push again, or update this program
/// }
/// ```
public enum SnapshotCodecError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The document is larger than the store keeps under one key.
    case tooLarge(bytes: Int, limit: Int)
    /// The document is nested deeper than any snapshot.
    case tooDeep(limit: Int)
    /// The bytes are not a snapshot; the reason names what is wrong and where.
    case notASnapshot(reason: String)
    /// The encoder failed.
    case notEncodable(reason: String)

    public var description: String {
        switch self {
        case .tooLarge(let bytes, let limit):
            "the usage snapshot has \(bytes) bytes, more than \(limit): " + "push fewer providers or fewer cost days"
        case .tooDeep(let limit):
            "the usage snapshot is nested deeper than \(limit) levels: " + "the key contains something else, push again"
        case .notASnapshot(let reason):
            "the value is not a usage snapshot (\(reason)): push again, or update this program"
        case .notEncodable(let reason):
            "cannot encode the usage snapshot as JSON (\(reason))"
        }
    }
}
