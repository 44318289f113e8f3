import Essentials
import LocalFiles

/// Reads rollouts that Codex has compressed, which it does after a week without a change, and remembers them.
///
/// Codex compresses to `rollout-….jsonl.zst`, keeps the modification time and then removes the plain file
/// [openai/codex, codex-rs/rollout/src/compression.rs]. A file is read from its start, and as a whole or not at all in
/// one pass.
struct CompressedRollouts: Sendable {
    /// Why a file was not read to its end.
    private enum Issue: CaseIterable {
        case noLibrary
        case invalid
        case truncated
        case tooLong

        init?(_ outcome: Zstandard.Outcome) {
            switch outcome {
            case .complete: return nil
            case .truncated: self = .truncated
            case .invalid: self = .invalid
            case .stopped: self = .tooLong
            }
        }
    }

    private struct File {
        var status: FileStatus
        var rollout = CodexRollout()
        var issue: Issue?
    }

    private let zstandard: @Sendable () -> Zstandard?
    private var files: [FileStatus.Identity: File] = [:]
    /// The files of this pass with an issue.
    private var issues: [(path: String, issue: Issue)] = []

    init(zstandard: @escaping @Sendable () -> Zstandard?) { self.zstandard = zstandard }

    /// Forgets all files but these.
    mutating func beginPass(over present: some Sequence<DirectoryWalk.File>) {
        issues = []
        if files.isEmpty { return }
        let present = Set(present.map(\.status.identity))
        files = files.filter { present.contains($0.key) }
    }

    /// Nil for a file that has never been read.
    func rollout(of file: DirectoryWalk.File) -> CodexRollout? {
        files[file.status.identity]?.rollout
    }

    /// Reads a file unless it is known, if the budget has enough left for any file.
    mutating func update(_ file: DirectoryWalk.File, at now: Date, budget: inout ScanBudget) throws(FileError) {
        if files[file.status.identity]?.status != file.status {
            files[file.status.identity] = nil
            guard let zstandard = zstandard() else {
                issues.append((file.path, .noLibrary))
                return
            }
            guard budget.bytesLeft >= budget.limits.decompressedByteCount else { return budget.markExceeded() }
            guard budget.reserveFile() else { return }
            files[file.status.identity] = try LocalFile(file.path).withOpen { open throws(FileError) in
                try Self.read(open, with: zstandard, at: now, budget: &budget)
            }
        }
        if let issue = files[file.status.identity]?.issue { issues.append((file.path, issue)) }
    }

    /// Nil when the pass ran out of time.
    private static func read(
        _ open: OpenFile, with zstandard: Zstandard, at now: Date, budget: inout ScanBudget
    ) throws(FileError) -> File? {
        var file = File(status: open.status)
        let lines = LineBuffer(lineByteCount: budget.limits.lineByteCount)
        func add(_ bytes: UnsafeRawBufferPointer) {
            _ = lines.add(bytes) { line, offset in
                guard CodexRow.needle.isIn(line) else { return }
                let origin = LimitReading.Origin(path: open.path, offset: offset, isCompressed: true, isOfSession: true)
                file.rollout.add(Data(line), origin: origin, at: now)
            }
        }
        // The first lines say which of those after them are copies.
        var head: [UInt8]? = []
        func endHead() {
            guard let bytes = head else { return }
            head = nil
            file.rollout.head = CodexRolloutHead(bytes)
            bytes.withUnsafeBytes(add)
        }
        var bytesLeft = budget.limits.decompressedByteCount
        let outcome = try zstandard.decompress(open) { bytes in
            bytesLeft -= bytes.count
            budget.recordRead(bytes.count)
            if head == nil {
                add(bytes)
            } else {
                head?.append(contentsOf: bytes)
                if head!.count >= CodexRolloutHead.byteLimit { endHead() }
            }
            return bytesLeft > 0 && !budget.isOutOfTime
        }
        endHead()
        if outcome == .stopped, bytesLeft > 0 {
            budget.markExceeded()
            return nil
        }
        file.issue = Issue(outcome)
        return file
    }

    /// One for each kind of issue.
    var findings: [SourceFinding] {
        Issue.allCases.compactMap { issue in
            let affected = issues.filter { $0.issue == issue }
            guard let first = affected.first else { return nil }
            let sessions = "\(affected.count) compressed \(affected.count == 1 ? "session" : "sessions")"
            let was = affected.count == 1 ? "was" : "were"
            let detail =
                switch issue {
                case .noLibrary: "\(was) not read: install \(Zstandard.packageName)"
                case .invalid: "\(was) read only up to damaged or unsupported data"
                case .truncated: "\(was) read up to an early end"
                case .tooLong: "\(was) read only in part: too long"
                }
            return SourceFinding(
                path: first.path, title: "Codex sessions", detail: "\(sessions) \(detail)",
                isError: true)
        }
    }
}
