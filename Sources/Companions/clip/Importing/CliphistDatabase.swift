import Essentials
import LocalFiles

/// The history of cliphist: a file of bbolt.
///
/// By cliphist.go of github.com/sentriz/cliphist, the bucket "b" has the bytes of each copy by a number that grows, 8
/// bytes with the most significant first (`itob`). Newer versions write to a bucket "metadata", by the same keys, JSON
/// with the time in seconds and the MIME type (`entryMetadata`); of older ones neither is known, and the type is found
/// from the bytes.
enum CliphistDatabase {
    private static let attemptCount = 4
    /// More than it keeps by default, which is 750.
    private static let elementLimit = 100_000

    private struct Metadata: Decodable {
        var timestamp: Int64?
        var mime: String?

        static let byteLimit = 65_536
    }

    static func read(_ path: String) throws -> ImportedItems {
        guard try FileStatus(path: path) != nil else { throw ImportError.missing(path) }
        return try LocalFile(path).withOpen { file in Result { try read(file) } }.get()
    }

    private static func read(_ file: OpenFile) throws -> ImportedItems {
        for _ in 1...attemptCount {
            guard let bolt = try BoltFile(file) else {
                throw ImportError(path: file.path, reason: "not a database of cliphist; pass the path of its db")
            }
            let result = Result { try items(bolt) }
            guard try bolt.isCurrent() else { continue }
            do {
                return try result.get()
            } catch is BoltFile.Damage {
                throw ImportError(path: file.path, reason: "the database is damaged; repair it with 'cliphist compact'")
            }
        }
        throw ImportError(path: file.path, reason: "cliphist is writing it; run this again in a moment")
    }

    private static func items(_ bolt: BoltFile) throws -> ImportedItems {
        var imported = ImportedItems()
        let elements = try bolt.elements(ofBucket: "b", limit: elementLimit) ?? []
        let metadata = try bolt.elements(ofBucket: "metadata", limit: elementLimit) ?? []
        let details = Dictionary(metadata.map { ($0.key, $0) }) { first, _ in first }
        for element in elements where !element.isBucket {
            guard element.byteCount <= ImportedItems.itemByteLimit else {
                imported.skip(ImportedItems.tooLarge)
                continue
            }
            guard !imported.isFull else {
                imported.skip(ImportedItems.tooOld)
                continue
            }
            var known: Metadata?
            // The item is read without its details.
            if let detail = details[element.key], detail.byteCount <= Metadata.byteLimit {
                known = try? JSONDecoder().decode(Metadata.self, from: bolt.value(of: detail))
            }
            let data = try bolt.value(of: element)
            let type = ContentType(sniffing: data, noted: known?.mime)
            let time = known?.timestamp.flatMap { seconds in
                let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
                return overflow ? nil : Timestamp(milliseconds: milliseconds)
            }
            imported.append(ImportedItem(offer: Offer([(type.rawValue, data)]), first: time, last: time))
        }
        return imported
    }
}
