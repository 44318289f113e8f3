import Essentials
import LocalFiles

/// Looks for rejections in transcripts, newest first.
///
/// A rejection is mostly among the last lines of a session, so the last 512 KiB of every file come first, and then the
/// rest. What the budget cuts off is read in the next pass, and what is appended as it comes.
struct ClaudeRejectionScan: Sendable {
    private static let firstRoundByteCount: Int64 = 512 * 1_024
    private static let longestWindow: TimeInterval = 7 * 86_400

    private var scans = TailScans(empty: Evidence())

    /// - Parameters:
    ///   - start: rejections before it cannot count; nil when any can.
    ///   - errors: files that cannot be opened are added.
    mutating func evidence(
        in newestFirst: [DirectoryWalk.File], since start: Date?, at now: Date,
        budget: inout ScanBudget, errors: inout [FileError]
    ) -> Evidence {
        let horizon = max(now.addingTimeInterval(-Self.longestWindow), start ?? .distantPast)
        let recent = newestFirst.prefix { $0.status.modificationDate >= horizon }
        scans.keep(recent)
        var unreadable: Set<FileStatus.Identity> = []
        for depth in [Self.firstRoundByteCount, .max] {
            for file in recent where !unreadable.contains(file.status.identity) {
                let plan = TailScan<Evidence>.Plan(needles: ClaudeRejection.needles, byteCount: budget.limits.byteCount)
                do throws(FileError) {
                    try scans.update(
                        file, plan: plan, budget: &budget, isEnough: { $0.isComplete || $0.coveredByteCount >= depth },
                        add: { evidence, line, offset in
                            let origin = LimitReading.Origin(path: file.path, offset: offset)
                            if let reading = ClaudeRejection.reading(line: line, origin: origin) {
                                evidence.add(reading.dated(at: now))
                            }
                        })
                } catch {
                    if !error.isMissing {
                        unreadable.insert(file.status.identity)
                        errors.append(error)
                    }
                }
            }
        }
        var evidence = Evidence()
        for file in recent {
            if let found = scans.digest(of: file) { evidence.merge(found) }
        }
        return evidence
    }
}
