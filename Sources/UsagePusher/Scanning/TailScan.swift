import Foundation

/// What one growing file of lines has told so far, remembered between passes.
///
/// The digest covers the lines between two offsets. The next pass reads what was appended, and
/// goes further back when that is wanted; a file that was replaced, truncated or rewritten is read
/// anew. Adding a line twice, or in another order, must not change the digest.
struct TailScan<Digest: Sendable>: Sendable {
    private(set) var digest: Digest
    /// True when the file was covered back to its first line.
    var isComplete: Bool { back.map { $0.offset == 0 } ?? false }
    /// Bytes from the last newline back to the oldest line covered.
    var coveredByteCount: Int64 { (front ?? 0) - (back?.offset ?? 0) }
    private let empty: Digest
    private var facts: FileFacts?
    /// Just after the last newline that was covered.
    private var front: Int64?
    /// How far back the digest reaches.
    private var back: TailPosition?
    /// The bytes before `front`, to recognise a file that was rewritten in place.
    private var lastBytes: [UInt8] = []

    /// How a pass reads.
    struct Plan {
        var needles: [ByteNeedle]
        /// Most bytes of this file in this pass, a chunk more or less.
        var byteCount: Int
        var chunkByteCount = 65_536
    }

    init(empty: Digest) {
        self.empty = empty
        digest = empty
    }

    /// True when the file is as it was at the end of the last pass: nothing new to read.
    func isCurrent(_ facts: FileFacts) -> Bool { self.facts == facts }

    /// Reads the file's new lines, then older ones until `isEnough`, the file's start, or the
    /// plan's or the budget's end.
    mutating func update(
        _ file: ReadOnlyFile, plan: Plan, budget: inout ScanBudget,
        isEnough: (TailScan) -> Bool, add: (inout Digest, Data) -> Void
    ) {
        if !isContinuation(file, budget: &budget) { self = TailScan(empty: empty) }
        var bytesLeft = plan.byteCount
        if facts == nil || file.facts != facts {
            guard readFront(of: file, plan: plan, budget: &budget, bytesLeft: &bytesLeft, add: add)
            else { return }
        }
        guard let resume = back else { return }
        var reader = TailReader(
            resuming: resume, needles: plan.needles, chunkByteCount: plan.chunkByteCount,
            lineByteCount: budget.limits.lineByteCount)
        while bytesLeft > 0, !isEnough(self) {
            let before = budget.bytesRead
            let hasMore = reader.readChunk(of: file, budget: &budget) { add(&digest, $0) }
            back = reader.resumePosition
            bytesLeft -= budget.bytesRead - before
            if !hasMore { break }
        }
    }

    /// Covers what was appended since the last pass; in a new file only finds the last newline.
    ///
    /// - Returns: false when the bytes ended before the last newline; the next pass tries again.
    private mutating func readFront(
        of file: ReadOnlyFile, plan: Plan, budget: inout ScanBudget, bytesLeft: inout Int,
        add: (inout Digest, Data) -> Void
    ) -> Bool {
        let start = front ?? 0
        var reader = TailReader(
            byteCount: file.facts.byteCount, start: start, needles: plan.needles,
            chunkByteCount: plan.chunkByteCount, lineByteCount: budget.limits.lineByteCount)
        while bytesLeft > 0, !reader.isDone, front != nil || reader.end == nil {
            let before = budget.bytesRead
            let hasMore = reader.readChunk(of: file, budget: &budget) { add(&digest, $0) }
            bytesLeft -= budget.bytesRead - before
            if !hasMore { break }
        }
        let isJoined = front != nil && reader.isDone
        if !isJoined {
            guard reader.end != nil || reader.isDone else { return false }
            // What lies between is read on the way back, what was covered before once more.
            back = reader.resumePosition
        }
        facts = file.facts
        front = reader.end ?? start
        let count = min(512, front ?? 0)
        lastBytes = file.bytes(at: (front ?? 0) - count, count: Int(count))
        budget.noteRead(lastBytes.count)
        return true
    }

    private func isContinuation(_ file: ReadOnlyFile, budget: inout ScanBudget) -> Bool {
        guard let facts, let front else { return false }
        if facts == file.facts { return true }
        guard facts.identity == file.facts.identity, file.facts.byteCount > facts.byteCount
        else { return false }
        let bytes = file.bytes(at: front - Int64(lastBytes.count), count: lastBytes.count)
        budget.noteRead(bytes.count)
        return bytes == lastBytes
    }
}
