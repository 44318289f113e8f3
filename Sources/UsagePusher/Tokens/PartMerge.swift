import Dispatch
import Essentials
import LocalFiles
import Synchronization

/// Merges what was read now with what a cache has, part by part, on several threads.
final class PartMerge: Sendable {
    struct Result: Sendable {
        fileprivate var sums = TokenBuckets()
        fileprivate var keptSums = TokenBuckets()
        /// By time.
        var buckets: [TokenBucket] = []
        /// With those of deleted files; nil without any.
        var keptBuckets: [TokenBucket]?
        /// The replaced files that have requests which their replacements do not have.
        var remaining: Set<UInt32> = []
        /// Where the parts are in `target`.
        var parts: [TokenCache.Part]
        /// The end of the entries in `target`.
        var end: Int64
        /// Why not all entries are in `target`.
        var failure: FileError?
    }

    /// Where the merged entries are written; nil to keep none.
    private let target: ScratchFile?
    private let old: [TokenCache.Part]
    private let file: OpenFile?
    private let spool: TokenSpool
    private let dropped: Set<UInt32>
    private let replacements: [UInt32: UInt32]
    /// Files that are not there any more.
    private let deleted: Set<UInt32>
    private let merge: TokenMerge
    private let keptMerge: TokenMerge
    private let prices: [PriceMatch?]
    private let next = Atomic<Int>(0)
    private let end = Atomic<Int64>(0)
    /// Nil after a failure.
    private let result: Mutex<Result?>

    /// - Parameters:
    ///   - old: where the parts of the cache are in `file`; none without a cache.
    ///   - dropped: files whose records in the cache do not count any more.
    ///   - replacements: by deleted files those that have taken their places.
    ///   - prices: by the number of a model.
    init(
        old: [TokenCache.Part], file: OpenFile?, spool: TokenSpool, dropped: Set<UInt32>,
        replacements: [UInt32: UInt32],
        files: [TokenCache.FileState], sessions: [TokenSession], prices: [PriceMatch?], target: ScratchFile?
    ) {
        self.old = old
        self.file = file
        self.spool = spool
        self.dropped = dropped
        self.replacements = replacements
        deleted = Set(files.indices.filter { files[$0].isDeleted }.map(UInt32.init))
        let ages = files.map(\.since)
        merge = TokenMerge(
            lineage: TokenLineage(
                sessions: sessions, files: files.map { $0.isDeleted ? .init() : $0.thread }, ages: ages))
        keptMerge = TokenMerge(lineage: TokenLineage(sessions: sessions, files: files.map(\.thread), ages: ages))
        self.prices = prices
        self.target = target
        let part = TokenCache.Part(offset: 0, count: 0, hash: 0)
        result = Mutex(Result(parts: Array(repeating: part, count: TokenSpool.partCount), end: 0))
    }

    /// Nil when the cache's entries are damaged.
    func run() -> Result? {
        let workers = min(ProcessInfo.processInfo.activeProcessorCount, 8)
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                guard part < TokenSpool.partCount else { break }
                guard let entries = entries(ofPart: part) else {
                    result.withLock { $0 = nil }
                    return
                }
                let present = deleted.isEmpty ? entries : entries.filter { !deleted.contains($0.file) }
                let buckets = self.buckets(of: present, merge)
                let kept = deleted.isEmpty ? [] : self.buckets(of: entries, keptMerge)
                result.withLock { result in
                    for bucket in buckets { result?.sums.add(bucket) }
                    for bucket in kept { result?.keptSums.add(bucket) }
                }
                write(entries, asPart: part)
            }
        }
        let taken = result.withLock { result in
            defer { result = nil }
            return result
        }
        guard var merged = taken else { return nil }
        merged.end = end.load(ordering: .relaxed)
        let buckets = merged.sums.takeSorted(by: merge.lineage)
        merged.buckets = buckets
        if !deleted.isEmpty {
            let kept = merged.keptSums.takeSorted(by: keptMerge.lineage)
            merged.keptBuckets = kept
        }
        return merged
    }

    /// One of each request.
    private func buckets(of entries: [TokenEntry], _ merge: TokenMerge) -> [TokenBucket] {
        var buckets: [TokenBucket] = []
        buckets.reserveCapacity(entries.count)
        merge.count(entries) { entry in
            let model = Int(entry.model)
            buckets.append(TokenBucket(entry, price: model < prices.count ? prices[model] : nil))
        }
        return buckets
    }

    private func entries(ofPart part: Int) -> [TokenEntry]? {
        // As for damaged entries: everything is read again.
        guard let new = try? spool.takeEntries(ofPart: part) else { return nil }
        var entries: [TokenEntry] = []
        if !old.isEmpty, let file {
            guard let kept = old[part].entries(in: file) else { return nil }
            entries = kept
        }
        if !dropped.isEmpty { entries.removeAll { dropped.contains($0.file) } }
        if !new.isEmpty {
            entries += new
            TokenMerge.reduce(&entries)
        }
        if !replacements.isEmpty { removeReplaced(&entries) }
        return entries
    }

    /// Removes the records of replaced files that are in their replacements, too.
    private func removeReplaced(_ entries: inout [TokenEntry]) {
        struct Place: Hashable {
            var id: UInt64
            var file: UInt32
        }
        let replaced = entries.filter { replacements[$0.file] != nil }
        guard !replaced.isEmpty else { return }
        let ids = Set(replaced.map(\.id))
        let places = Set(entries.lazy.filter { ids.contains($0.id) }.map { Place(id: $0.id, file: $0.file) })
        entries.removeAll { entry in
            replacements[entry.file].map { places.contains(Place(id: entry.id, file: $0)) } ?? false
        }
        let remaining = Set(entries.map(\.file)).intersection(replacements.keys)
        result.withLock { $0?.remaining.formUnion(remaining) }
    }

    private func write(_ entries: [TokenEntry], asPart part: Int) {
        guard let target else { return }
        let byteCount = Int64(entries.count * TokenSpool.entryByteCount)
        let offset = end.add(byteCount, ordering: .relaxed).oldValue
        do throws(FileError) {
            try target.write(entries, at: offset)
            let hash = entries.withUnsafeBytes(ContentHash.of)
            let place = TokenCache.Part(offset: offset, count: entries.count, hash: hash)
            result.withLock { $0?.parts[part] = place }
        } catch {
            result.withLock { $0?.failure = error }
        }
    }
}
