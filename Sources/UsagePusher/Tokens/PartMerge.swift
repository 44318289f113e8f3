import Foundation
import LocalFiles
import Synchronization

/// Merges what was read now with what a cache has, part by part, on several threads.
final class PartMerge: Sendable {
    struct Result: Sendable {
        var buckets = TokenBuckets()
        /// Where the parts are in `target`.
        var parts: [TokenCache.Part]
        /// The end of the entries in `target`.
        var end: Int64
    }

    /// Where the merged entries are written; nil to keep none.
    let target: ScratchFile?
    private let old: TokenCache?
    private let file: OpenFile?
    private let spool: TokenSpool
    private let dropped: Set<UInt32>
    private let sessionOrder: [UInt64]
    private let prices: [ModelPrice?]
    private let next = Atomic<Int>(0)
    private let end = Atomic<Int64>(0)
    /// Nil after a failure.
    private let result: Mutex<Result?>

    /// - Parameters:
    ///   - file: the old cache's.
    ///   - dropped: files whose records in the cache do not count any more.
    ///   - prices: by the number of a model.
    init(
        old: TokenCache?, file: OpenFile?, spool: TokenSpool, dropped: Set<UInt32>,
        sessionOrder: [UInt64], prices: [ModelPrice?], target: ScratchFile?
    ) {
        self.old = old
        self.file = file
        self.spool = spool
        self.dropped = dropped
        self.sessionOrder = sessionOrder
        self.prices = prices
        self.target = target
        let part = TokenCache.Part(offset: 0, count: 0, hash: 0)
        result = Mutex(
            Result(parts: Array(repeating: part, count: TokenSpool.partCount), end: 0))
    }

    /// Nil when the cache's entries are damaged, or one that is dropped stood for another file's.
    func run() -> Result? {
        let workers = min(ProcessInfo.processInfo.activeProcessorCount, 8)
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            var buckets = TokenBuckets()
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                guard part < TokenSpool.partCount else { break }
                guard let entries = entries(ofPart: part) else {
                    result.withLock { $0 = nil }
                    return
                }
                for entry in entries {
                    let model = Int(entry.model)
                    buckets.add(entry, price: model < prices.count ? prices[model] : nil)
                }
                write(entries, asPart: part)
            }
            result.withLock { $0?.buckets.add(buckets) }
        }
        return result.withLock {
            $0?.end = end.load(ordering: .relaxed)
            return $0
        }
    }

    private func entries(ofPart part: Int) -> [TokenEntry]? {
        guard let new = try? spool.entries(ofPart: part) else { return nil }
        var entries: [TokenEntry] = []
        if let old, let file {
            guard let kept = old.entries(ofPart: part, in: file) else { return nil }
            entries = kept
        }
        if !dropped.isEmpty {
            let isMissed = entries.contains { $0.isShared && dropped.contains($0.file) }
            if isMissed { return nil }
            entries.removeAll { dropped.contains($0.file) }
        }
        guard !new.isEmpty else { return entries }
        entries += new
        TokenMerge.merge(&entries, sessionOrder: sessionOrder)
        return entries
    }

    /// Without a target, or where that cannot be written, the next update has no cache.
    private func write(_ entries: [TokenEntry], asPart part: Int) {
        guard let target else { return }
        let byteCount = Int64(entries.count * TokenSpool.entryByteCount)
        let offset = end.add(byteCount, ordering: .relaxed).oldValue
        let isWritten = (try? target.write(entries, at: offset)) != nil
        // What is not there has the wrong hash.
        let hash = isWritten ? entries.withUnsafeBytes(ContentHash.of) : 0
        let place = TokenCache.Part(offset: offset, count: entries.count, hash: hash)
        result.withLock { $0?.parts[part] = place }
    }
}
