import Essentials
import LocalFiles

/// What earlier scans have found: which files were read how far, the requests in them and their sums.
///
/// The file: the entries of `TokenSpool.partCount` parts, each sorted by id, the buckets, the index, and a footer of
/// six 64-bit words: `magic`, offset, length and hash of the index, number and hash of all buckets. Numbers are in the
/// machine's own byte order, because a cache stays on its machine. A cache that is damaged, of another version or made
/// for other logs is ignored, and everything read again.
struct TokenCache: Sendable {
    struct Part: Sendable {
        var offset: Int64
        var count: Int
        var hash: UInt64

        /// Nil when they are damaged.
        func entries(in file: OpenFile) -> [TokenEntry]? {
            // Damaged as well.
            let entries: [TokenEntry]? = try? file.values(at: offset, count: count)
            guard let entries, entries.count == count,
                entries.withUnsafeBytes(ContentHash.of) == hash
            else { return nil }
            return entries
        }
    }

    /// How far a file has been read.
    struct FileState: Sendable {
        var file: TokenFile
        var source: String
        var identity: FileStatus.Identity
        var byteCount: Int64
        /// Nanoseconds since 1970; of one that is deleted, when that was seen.
        var modified: Int64
        /// When it had been modified when it was seen for the first time: of a file and its unmarked copy the original
        /// is older.
        var since: Int64
        /// Just after the last line that was read.
        var offset: Int64 = 0
        var isInsideLongLine = false
        /// The hash of the bytes before `offset`, to detect a file that was rewritten in place.
        var lastBytesHash: UInt64 = 0
        /// Whether there is nothing left to read.
        var isComplete = false
        /// Whether the last reading could not read it, so that it is tried again although it has not changed.
        var hasFailed = false
        /// Whether it is no longer there; what it stated still counts.
        var isDeleted = false
        var leftOutCount = 0
        var thread = TokenLineage.Thread()
        /// The reader's properties; empty for a document.
        var reader = Data()

        init(_ file: TokenFile, source: String, _ status: FileStatus) {
            self.file = file
            self.source = source
            identity = status.identity
            byteCount = status.byteCount
            modified = status.modified
            since = status.modified
        }

        /// The place of a file that is gone, for another one: entries refer to files by number.
        static let free = Self(TokenFile(path: "", root: ""), source: "")
        var isFree: Bool { file.path.isEmpty }

        /// Whether the file is as it was when it was read.
        func isCurrent(_ status: FileStatus) -> Bool {
            identity == status.identity && byteCount == status.byteCount && modified == status.modified
        }
    }

    /// Which cache it is: another number where one before has lost what it knew.
    var id = UInt64.random(in: 2 ... .max)
    /// A hash of the logs and their versions.
    var logs: UInt64 = 0
    /// `ModelPrices.hash`.
    var prices: UInt64 = 0
    var parts: [Part] = []
    var files: [FileState] = []
    var sessions: [TokenSession] = []
    var models: [String] = []
    var buckets: [TokenBucket] = []
    /// With those of deleted files; nil without any.
    var keptBuckets: [TokenBucket]?
    /// How many buckets of the file are `buckets`.
    private var bucketCount = 0

    private static let magic: UInt64 = 0x5562_546F_6B65_0008
    /// That of the version before, which has neither `id` nor `FileState.since`.
    private static let formerMagic = magic - 1
    private static let footerByteCount: Int64 = 48
    private static let indexByteLimit = 512 * 1_048_576

    /// Nil when there is no usable cache.
    static func read(_ file: OpenFile) -> TokenCache? {
        let end = file.status.byteCount - footerByteCount
        // What cannot be read is no usable cache, here and below: everything is read again.
        guard end >= 0, let words: [UInt64] = try? file.values(at: end, count: 6), words.count == 6,
            [magic, formerMagic].contains(words[0]), words[2] <= UInt64(min(end, Int64(indexByteLimit))),
            words[1] == UInt64(end) &- words[2],
            words[4] <= words[1] / UInt64(MemoryLayout<TokenBucket>.stride),
            let index = try? file.bytes(at: Int64(words[1]), count: Int(words[2])),
            index.withUnsafeBytes(ContentHash.of) == words[3]
        else { return nil }
        let entriesEnd = Int64(words[1]) - Int64(words[4]) * bucketByteCount
        var cache = index.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return TokenCache(&reader, entriesEnd: entriesEnd, isFormer: words[0] == formerMagic)
        }
        guard let sessionCount = cache?.sessions.count, let bucketCount = cache?.bucketCount,
            let buckets: [TokenBucket] = try? file.values(at: entriesEnd, count: Int(words[4])),
            buckets.withUnsafeBytes(ContentHash.of) == words[5], bucketCount <= buckets.count,
            buckets.allSatisfy({ $0.key.session < sessionCount })
        else { return nil }
        cache?.buckets = Array(buckets[..<bucketCount])
        if cache?.keptBuckets != nil { cache?.keptBuckets = Array(buckets[bucketCount...]) }
        return cache
    }

    private static let bucketByteCount = Int64(MemoryLayout<TokenBucket>.stride)

    /// Appends buckets, index and footer to the entries, which end at `offset`.
    func write(to scratch: ScratchFile, at offset: Int64) throws(FileError) {
        var writer = ByteWriter()
        encode(into: &writer)
        let index = writer.bytes
        let buckets = buckets + (keptBuckets ?? [])
        let indexOffset = offset + Int64(buckets.count) * Self.bucketByteCount
        try scratch.write(buckets, at: offset)
        try scratch.write(index, at: indexOffset)
        try scratch.write(
            [
                Self.magic, UInt64(indexOffset), UInt64(index.count), index.withUnsafeBytes(ContentHash.of),
                UInt64(buckets.count), buckets.withUnsafeBytes(ContentHash.of),
            ],
            at: indexOffset + Int64(index.count))
    }

    private func encode(into writer: inout ByteWriter) {
        writer.add(id)
        writer.add(logs)
        writer.add(prices)
        writer.add(list: parts)
        writer.add(files.count)
        for state in files {
            writer.add(text: state.file.path)
            writer.add(text: state.file.root)
            writer.add(text: state.source)
            writer.add(state.identity.device)
            writer.add(state.identity.inode)
            writer.add(state.byteCount)
            writer.add(state.modified)
            writer.add(state.since)
            writer.add(state.offset)
            writer.add(state.lastBytesHash)
            writer.add(state.leftOutCount)
            writer.add(state.thread.id)
            writer.add(state.thread.origin)
            writer.add(
                (state.isInsideLongLine ? 1 : 0) | (state.isComplete ? 2 : 0) | (state.hasFailed ? 4 : 0)
                    | (state.isDeleted ? 8 : 0))
            writer.add(list: [UInt8](state.reader))
        }
        writer.add(sessions.count)
        for session in sessions {
            writer.add(text: session.id)
            writer.add(text: session.project ?? "")
            writer.add(text: session.source)
        }
        writer.add(models.count)
        for model in models { writer.add(text: model) }
        writer.add(buckets.count)
        writer.add(keptBuckets == nil ? 0 : 1)
    }

    init() {}

    private init?(_ reader: inout ByteReader, entriesEnd: Int64, isFormer: Bool) {
        id = isFormer ? 1 : reader.word()
        logs = reader.word()
        prices = reader.word()
        parts = reader.list()
        for _ in 0..<reader.count() where !reader.isFailed {
            let file = TokenFile(path: reader.text(), root: reader.text())
            var state = FileState(file, source: reader.text())
            state.identity = FileStatus.Identity(device: reader.word(), inode: reader.word())
            state.byteCount = Int64(bitPattern: reader.word())
            state.modified = Int64(bitPattern: reader.word())
            state.since = isFormer ? state.modified : Int64(bitPattern: reader.word())
            state.offset = Int64(bitPattern: reader.word())
            state.lastBytesHash = reader.word()
            state.leftOutCount = reader.count()
            state.thread = TokenLineage.Thread(id: reader.word(), origin: reader.word())
            let flags = reader.word()
            state.isInsideLongLine = flags & 1 != 0
            state.isComplete = flags & 2 != 0
            state.hasFailed = flags & 4 != 0
            state.isDeleted = flags & 8 != 0
            state.reader = Data(reader.list() as [UInt8])
            files.append(state)
        }
        for _ in 0..<reader.count() where !reader.isFailed {
            let id = reader.text()
            let project = reader.text()
            sessions.append(TokenSession(id: id, project: project.isEmpty ? nil : project, source: reader.text()))
        }
        for _ in 0..<reader.count() where !reader.isFailed { models.append(reader.text()) }
        bucketCount = Int(clamping: reader.word())
        if reader.word() != 0 { keptBuckets = [] }
        guard !reader.isFailed, parts.count == TokenSpool.partCount,
            parts.allSatisfy({
                $0.offset >= 0 && $0.count >= 0 && $0.count <= Int(entriesEnd) / TokenSpool.entryByteCount
            })
        else { return nil }
    }
}

extension TokenCache.FileState {
    fileprivate init(_ file: TokenFile, source: String) {
        self.file = file
        self.source = source
        identity = FileStatus.Identity(device: 0, inode: 0)
        byteCount = 0
        modified = 0
        since = 0
    }
}
