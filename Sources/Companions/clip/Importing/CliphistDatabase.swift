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

/// A file of bbolt, read without a lock, as a lock would make a program that stores a copy meanwhile wait, or fail.
///
/// The structures are `page`, `branchPageElement` and `leafPageElement` in page.go, `bucket` in bucket.go and `meta` in
/// db.go of github.com/etcd-io/bbolt (1.3.6); numbers have the byte order of the machine, which is little endian
/// wherever the file is read here. A transaction writes no page that the one before it reaches, and its meta page last:
/// what is read counts unless `isCurrent` is false afterwards.
///
/// No number in the file is trusted: what leads out of the file or to a page once more is `Damage`.
struct BoltFile {
    struct Damage: Error {}

    /// A key, and where its value is.
    struct Element {
        let key: [UInt8]
        let isBucket: Bool
        fileprivate let value: Extent

        var byteCount: Int { Int(value.byteCount) }
    }

    /// Bytes of the file.
    fileprivate struct Extent {
        let offset: Int64
        let byteCount: Int64
    }

    private struct Meta: Equatable {
        let transaction: UInt64
        let root: UInt64
        let pageByteCount: Int64

        /// Nil unless there is a valid one.
        init?(_ bytes: [UInt8], at offset: Int64) {
            guard bytes.count == 80, bytes.number(at: 16, UInt32.self) == 0xED0C_DAED,
                bytes.number(at: 20, UInt32.self) == 2,
                bytes.number(at: 72, UInt64.self) == FNV1a.hash(bytes[16..<72])
            else { return nil }
            pageByteCount = Int64(bytes.number(at: 24, UInt32.self))
            root = bytes.number(at: 32, UInt64.self)
            transaction = bytes.number(at: 64, UInt64.self)
            guard pageByteCount.nonzeroBitCount == 1, (1_024...1 << 25).contains(pageByteCount),
                offset == 0 || offset == pageByteCount
            else { return nil }
        }

    }

    private let file: OpenFile
    private let meta: Meta
    private let byteCount: Int64
    private static let depthLimit = 32
    private static let keyByteLimit: UInt32 = 256

    /// Nil when the file is none of bbolt.
    init?(_ file: OpenFile) throws(FileError) {
        self.file = file
        guard let meta = try Self.newest(file) else { return nil }
        self.meta = meta
        byteCount = try file.currentStatus().byteCount
    }

    /// Whether no transaction has been committed since this was created.
    func isCurrent() throws(FileError) -> Bool { try Self.newest(file) == meta }

    /// The second page is at a distance that the first says, unless that is damaged.
    private static func newest(_ file: OpenFile) throws(FileError) -> Meta? {
        var newest: Meta?
        for offset in [0] + (0...15).map({ Int64(1_024) << $0 }) {
            let bytes = try file.bytes(at: offset, count: 80)
            guard let meta = Meta(bytes, at: offset) else { continue }
            if newest.map({ $0.transaction < meta.transaction }) ?? true { newest = meta }
        }
        return newest
    }

    /// The last elements of a bucket, the greatest key first; nil without such a bucket.
    func elements(ofBucket name: String, limit: Int) throws -> [Element]? {
        var elements: [Element] = []
        var visited: Set<UInt64> = []
        try collect(page(meta.root, &visited), &elements, &visited, limit: 1_024)
        let key = Array(name.utf8)
        guard let bucket = elements.first(where: { $0.isBucket && $0.key == key }) else { return nil }
        elements = []
        let header = try bytes(bucket.value, limit: 16)
        guard header.count == 16 else { throw Damage() }
        let root = header.number(at: 0, UInt64.self)
        // A small bucket is a page inside of the value.
        let page =
            root == 0
            ? Extent(offset: bucket.value.offset + 16, byteCount: bucket.value.byteCount - 16)
            : try page(root, &visited)
        try collect(page, &elements, &visited, limit: limit)
        return elements
    }

    func value(of element: Element) throws -> Data { Data(try bytes(element.value, limit: element.byteCount)) }

    /// - Parameter limit: in bytes.
    private func bytes(_ extent: Extent, limit: Int) throws(FileError) -> [UInt8] {
        try file.bytes(at: extent.offset, count: min(limit, Int(extent.byteCount)))
    }

    /// A page with those that it continues on, each once.
    private func page(_ id: UInt64, _ visited: inout Set<UInt64>) throws -> Extent {
        guard id < UInt64(byteCount / meta.pageByteCount), visited.insert(id).inserted else { throw Damage() }
        let offset = Int64(id) * meta.pageByteCount
        let header = try file.bytes(at: offset, count: 16)
        guard header.count == 16, header.number(at: 0, UInt64.self) == id else { throw Damage() }
        let count = (Int64(header.number(at: 12, UInt32.self)) + 1) * meta.pageByteCount
        guard count <= byteCount - offset else { throw Damage() }
        return Extent(offset: offset, byteCount: count)
    }

    private func collect(
        _ page: Extent, _ elements: inout [Element], _ visited: inout Set<UInt64>, limit: Int, depth: Int = 0
    ) throws {
        let header = try bytes(page, limit: 16)
        guard header.count == 16, depth < Self.depthLimit else { throw Damage() }
        let (flags, count) = (header.number(at: 8, UInt16.self), Int(header.number(at: 10, UInt16.self)))
        guard Int64(16 + 16 * count) <= page.byteCount else { throw Damage() }
        let table = try file.bytes(at: page.offset + 16, count: 16 * count)
        guard table.count == 16 * count else { throw Damage() }
        for index in (0..<count).reversed() {
            guard elements.count < limit else { return }
            switch flags {
            case 1:
                let child = table.number(at: 16 * index + 8, UInt64.self)
                try collect(self.page(child, &visited), &elements, &visited, limit: limit, depth: depth + 1)
            case 2: elements.append(try element(index, table, page))
            default: throw Damage()
            }
        }
    }

    private func element(_ index: Int, _ table: [UInt8], _ page: Extent) throws -> Element {
        func number(_ offset: Int) -> UInt32 { table.number(at: 16 * index + offset, UInt32.self) }
        let (keyByteCount, valueByteCount) = (number(8), number(12))
        let start = Int64(16 + 16 * index) + Int64(number(4))
        guard keyByteCount <= Self.keyByteLimit,
            start + Int64(keyByteCount) + Int64(valueByteCount) <= page.byteCount
        else { throw Damage() }
        let offset = page.offset + start
        return Element(
            key: try file.bytes(at: offset, count: Int(keyByteCount)), isBucket: number(0) & 1 == 1,
            value: Extent(offset: offset + Int64(keyByteCount), byteCount: Int64(valueByteCount)))
    }
}

extension [UInt8] {
    /// Least significant byte first.
    fileprivate func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
        self[offset..<(offset + MemoryLayout<Number>.size)].reversed().reduce(0) { $0 << 8 | Number($1) }
    }
}
