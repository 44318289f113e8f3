import Essentials
import LocalFiles

/// The digest of one growing file of lines, kept between passes.
///
/// The digest covers the lines between two offsets. The next pass reads what was appended, and
/// further back when asked to; for a file that was replaced, truncated or rewritten it starts over.
/// Adding a line twice, or in another order, must not change the digest.
struct TailScan<Digest: Sendable>: Sendable {
    private(set) var digest: Digest
    /// Whether the digest covers the file back to its first line.
    var isComplete: Bool { back.map { $0.offset == 0 } ?? false }
    /// Bytes from the last newline back to the oldest covered line.
    var coveredByteCount: Int64 { (front ?? 0) - (back?.offset ?? 0) }
    private let empty: Digest
    private var status: FileStatus?
    /// Just after the last covered newline.
    private var front: Int64?
    /// How far back the digest reaches.
    private var back: TailPosition?
    /// The bytes before `front`, to detect a file that was rewritten in place.
    private var lastBytes: [UInt8] = []

    /// How a pass reads.
    struct Plan {
        var needles: [ByteNeedle]
        /// Most bytes of this file to read in this pass, give or take a chunk.
        var byteCount: Int
        var chunkByteCount = 65_536
    }

    init(empty: Digest) {
        self.empty = empty
        digest = empty
    }

    /// Whether the file is unchanged since the last pass.
    func isCurrent(_ status: FileStatus) -> Bool { self.status == status }

    /// Reads the file's new lines, then older ones until `isEnough`, the file's start, or the
    /// plan's or the budget's end.
    mutating func update(
        _ file: OpenFile, plan: Plan, budget: inout ScanBudget,
        begin: (inout Digest, OpenFile, inout ScanBudget) -> Void,
        isEnough: (TailScan) -> Bool, add: (inout Digest, Data, Int64) -> Void
    ) {
        if !isContinuation(file, budget: &budget) {
            self = TailScan(empty: empty)
            begin(&digest, file, &budget)
        }
        var bytesLeft = plan.byteCount
        if file.status != status {
            guard readFront(of: file, plan: plan, budget: &budget, bytesLeft: &bytesLeft, add: add) else { return }
        }
        guard let resume = back else { return }
        var reader = TailReader(
            resuming: resume, needles: plan.needles, chunkByteCount: plan.chunkByteCount,
            lineByteCount: budget.limits.lineByteCount)
        while bytesLeft > 0, !isEnough(self) {
            let before = budget.bytesRead
            let hasMore = reader.readChunk(of: file, budget: &budget) { add(&digest, $0, $1) }
            back = reader.resumePosition
            bytesLeft -= budget.bytesRead - before
            if !hasMore { break }
        }
    }

    /// Covers what was appended since the last pass; of a new file only finds the last newline.
    ///
    /// - Returns: false when the budget ended before the last newline; the next pass tries again.
    private mutating func readFront(
        of file: OpenFile, plan: Plan, budget: inout ScanBudget, bytesLeft: inout Int,
        add: (inout Digest, Data, Int64) -> Void
    ) -> Bool {
        let start = front ?? 0
        var reader = TailReader(
            byteCount: file.status.byteCount, start: start, needles: plan.needles,
            chunkByteCount: plan.chunkByteCount, lineByteCount: budget.limits.lineByteCount)
        while bytesLeft > 0, !reader.isDone, front != nil || reader.end == nil {
            let before = budget.bytesRead
            let hasMore = reader.readChunk(of: file, budget: &budget) { add(&digest, $0, $1) }
            bytesLeft -= budget.bytesRead - before
            if !hasMore { break }
        }
        let isJoined = front != nil && reader.isDone
        if !isJoined {
            guard reader.end != nil || reader.isDone else { return false }
            // The gap is read on the way back, and what was covered before again.
            back = reader.resumePosition
        }
        status = file.status
        front = reader.end ?? start
        let count = min(512, front ?? 0)
        // Without them the file is read from its end again.
        lastBytes = (try? file.bytes(at: (front ?? 0) - count, count: Int(count))) ?? []
        budget.recordRead(lastBytes.count)
        return true
    }

    private func isContinuation(_ file: OpenFile, budget: inout ScanBudget) -> Bool {
        guard let status, let front else { return false }
        if status == file.status { return true }
        guard status.identity == file.status.identity, file.status.byteCount > status.byteCount else { return false }
        // Unlike any: the file counts as another one.
        let bytes = try? file.bytes(at: front - Int64(lastBytes.count), count: lastBytes.count)
        budget.recordRead(bytes?.count ?? 0)
        return bytes == lastBytes
    }
}

/// The scans of many files, which keep their identity when they are renamed.
struct TailScans<Digest: Sendable>: Sendable {
    private let empty: Digest
    private var scans: [FileStatus.Identity: TailScan<Digest>] = [:]

    init(empty: Digest) { self.empty = empty }

    /// Nil for a file that has never been read.
    func digest(of file: DirectoryWalk.File) -> Digest? { scans[file.status.identity]?.digest }

    /// Forgets all files but these.
    mutating func keep(_ files: some Sequence<DirectoryWalk.File>) {
        let present = Set(files.map(\.status.identity))
        scans = scans.filter { present.contains($0.key) }
    }

    /// Brings the file's digest up to date, as far as the budget allows.
    ///
    /// - Parameters:
    ///   - begin: called before the first line of a file that is new or was replaced.
    ///   - add: gets a line and its offset in the file.
    mutating func update(
        _ file: DirectoryWalk.File, plan: TailScan<Digest>.Plan, budget: inout ScanBudget,
        begin: (inout Digest, OpenFile, inout ScanBudget) -> Void = { _, _, _ in },
        isEnough: (TailScan<Digest>) -> Bool, add: (inout Digest, Data, Int64) -> Void
    ) throws(FileError) {
        var scan = scans[file.status.identity] ?? TailScan(empty: empty)
        guard !scan.isCurrent(file.status) || !isEnough(scan), budget.reserveFile() else { return }
        try LocalFile(file.path).withOpen { open throws(FileError) in
            scan.update(open, plan: plan, budget: &budget, begin: begin, isEnough: isEnough, add: add)
        }
        scans[file.status.identity] = scan
    }
}
