import Essentials
import LocalFiles

/// Reads the tails of Codex rollouts, newest file first, for the newest reading of every limit.
///
/// When to stop: a line is not newer than its file. Hence:
/// - Across files: once a reading of the main limit is known, files that were modified before it can only hold other
///   limits (a model with its own), for which the last day is looked through.
/// - Within a file: at its newest reading of the main limit; in a file that is only looked through for other
///   limits, also after 1 MiB.
/// - A file without any such line gets 8 MiB in a first round, so that it leaves some of the budget to the others, and
///   the rest in a second. What a budget cuts off is read in the next pass.
/// - A compressed file has no tail to read, so that it comes in the second round: by then, the plain files have mostly
///   answered.
/// - A session that seems to repeat an old window is then read back to the start of the newer one, which it may have
///   stated itself.
struct CodexScan: Sendable {
    private static let firstRoundByteCount = 8 * 1_048_576
    private static let otherLimitsByteCount: Int64 = 1_048_576
    /// The longest window seen, in seconds.
    private static let longestWindow: TimeInterval = 31 * 86_400
    private static let otherLimitsInterval: TimeInterval = 86_400
    /// Seconds by which a line may be newer than its file: clocks of file systems are coarse.
    private static let tolerance: TimeInterval = 2

    private var scans = TailScans(empty: CodexRollout())
    private var compressed: CompressedRollouts

    init(zstandard: @escaping @Sendable () -> Zstandard?) {
        compressed = CompressedRollouts(zstandard: zstandard)
    }

    /// What the files that exist now state; `newestFirst` are all of them.
    ///
    /// - Parameters:
    ///   - errors: files that cannot be opened are added.
    ///   - findings: compressed files that are not read completely are added.
    mutating func evidence(
        in newestFirst: [DirectoryWalk.File], at now: Date, budget: inout ScanBudget,
        errors: inout [FileError], findings: inout [SourceFinding]
    ) -> Evidence {
        scans.keep(newestFirst)
        compressed.beginPass(over: newestFirst)
        var unreadable: Set<FileStatus.Identity> = []
        var evidence = Evidence()
        for byteCount in [Self.firstRoundByteCount, Int.max] {
            for file in newestFirst where !unreadable.contains(file.status.identity) {
                let modified = file.status.modificationDate
                let isForOthers =
                    Self.mainReading(evidence).map {
                        modified.addingTimeInterval(Self.tolerance) < $0.observedAt
                    } ?? false
                let horizon = isForOthers ? Self.otherLimitsInterval : Self.longestWindow
                if modified < now.addingTimeInterval(-horizon) { break }
                let isCompressed = CodexRollouts.isCompressed(file)
                if isCompressed, byteCount != .max { continue }
                do throws(FileError) {
                    if isCompressed {
                        try compressed.update(file, at: now, budget: &budget)
                    } else {
                        let depth = isForOthers ? Self.otherLimitsByteCount : .max
                        try update(file, byteCount: byteCount, at: now, budget: &budget) {
                            Self.mainReading($0.digest.evidence) != nil || $0.coveredByteCount >= depth
                        }
                    }
                } catch {
                    if !error.isMissing {
                        unreadable.insert(file.status.identity)
                        errors.append(error)
                    }
                }
                let rollout = isCompressed ? compressed.rollout(of: file) : scans.digest(of: file)
                if let rollout { evidence.merge(rollout.evidence) }
            }
        }
        // What is there no more states nothing; the rest has been read.
        try? lookBack(in: newestFirst, for: &evidence, at: now, budget: &budget)
        findings += compressed.findings
        return evidence
    }

    /// - Throws: a file that was read before cannot be opened any more.
    private mutating func lookBack(
        in files: [DirectoryWalk.File], for evidence: inout Evidence, at now: Date, budget: inout ScanBudget
    ) throws(FileError) {
        var examined: Set<String> = []
        while let repetition = evidence.repetitions.first(where: {
            !examined.contains($0.reading.origin.path)
        }) {
            let path = repetition.reading.origin.path
            examined.insert(path)
            guard let file = files.first(where: { $0.path == path }),
                !CodexRollouts.isCompressed(file)
            else { continue }
            try update(file, byteCount: .max, at: now, budget: &budget) {
                $0.digest.reachesBack(to: repetition.windowStart)
            }
            if let rollout = scans.digest(of: file) { evidence.merge(rollout.evidence) }
        }
    }

    /// The newest reading of the main limit; one from the future says nothing about what older lines hold.
    private static func mainReading(_ evidence: Evidence) -> LimitReading? {
        evidence.newest(CodexRow.mainLimit).flatMap { $0.isFromFuture ? nil : $0 }
    }

    private mutating func update(
        _ file: DirectoryWalk.File, byteCount: Int, at now: Date, budget: inout ScanBudget,
        until isEnough: (TailScan<CodexRollout>) -> Bool
    ) throws(FileError) {
        try scans.update(
            file, plan: TailScan.Plan(needles: [CodexRow.needle], byteCount: byteCount), budget: &budget,
            begin: { $0.head = CodexRolloutHead($1, budget: &$2) }, isEnough: { $0.isComplete || isEnough($0) },
            add: { rollout, line, offset in
                rollout.add(
                    line,
                    origin: LimitReading.Origin(path: file.path, offset: offset, isOfSession: true), at: now)
            })
    }
}
