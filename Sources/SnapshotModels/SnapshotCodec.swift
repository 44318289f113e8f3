public import Foundation

/// The one place where a snapshot becomes bytes and bytes become a snapshot.
///
/// The bytes are UTF-8 JSON, keys sorted, absent values left out, dates ISO 8601 in whole seconds
/// of UTC ("2026-09-18T12:00:00Z"). Reading is lenient about every field (see `SnapshotReading`)
/// and strict about size and depth. All functions are pure and may be called from any thread.
public enum SnapshotCodec {
    /// The bytes to store. What JSON cannot say is taken out first, see `normalized()`.
    public static func encode(
        _ snapshot: SyncedUsageSnapshot
    ) throws(SnapshotCodecError) -> Data {
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

    /// The snapshot in `data`; what could not be read inside it is left out.
    public static func decode(_ data: Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot {
        try decodeCountingSkips(data).snapshot
    }

    /// As `decode`, and how many providers and windows had to be left out.
    public static func decodeCountingSkips(
        _ data: Data
    ) throws(SnapshotCodecError) -> SnapshotReading {
        guard data.count <= SnapshotLimits.documentBytes else {
            throw .tooLarge(bytes: data.count, limit: SnapshotLimits.documentBytes)
        }
        switch JSONShape.check(data, depthLimit: SnapshotLimits.nestingDepth) {
        case .acceptable: break
        case .tooDeep: throw .tooDeep(limit: SnapshotLimits.nestingDepth)
        case .notUTF8: throw .notASnapshot(reason: "it is not UTF-8 text")
        }
        do {
            return try JSONDecoder().decode(SnapshotReading.self, from: data)
        } catch let error as DecodingError {
            throw .notASnapshot(reason: error.placeAndReason)
        } catch {
            throw .notASnapshot(reason: String(describing: error))
        }
    }

    /// What is stored under a snapshot key: nil when the key is missing or holds no snapshot.
    public static func read(_ data: Data?) -> SyncedUsageSnapshot? {
        guard let data else { return nil }
        return try? decode(data)
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
