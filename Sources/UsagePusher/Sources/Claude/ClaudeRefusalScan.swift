import Foundation

/// Looks for refusals at the ends of transcripts, newest first, and remembers what each told.
///
/// A refusal is the last thing that happens in a session, or nearly: 512 KiB from the end of each
/// file modified in the last seven days are enough, and what is appended later is read as it comes.
struct ClaudeRefusalScan: Sendable {
    private static let byteCountPerFile = 512 * 1_024
    private static let longestWindow = TimeInterval(WindowKind.weeklyMinutes * 60)

    private var scans: [FileFacts.Identity: TailScan<ClaudeReadings>] = [:]

    /// - Parameter troubles: files that could not be opened are added.
    mutating func refusals(
        in newestFirst: [FolderWalk.File], at now: Date, budget: inout ScanBudget,
        troubles: inout [FolderWalk.Trouble]
    ) -> ClaudeReadings {
        let horizon = now.addingTimeInterval(-Self.longestWindow)
        let recent = newestFirst.prefix { $0.facts.modifiedAt >= horizon }
        let present = Set(recent.map(\.facts.identity))
        scans = scans.filter { present.contains($0.key) }
        var readings = ClaudeReadings()
        for file in recent {
            do throws(FileTrouble) {
                try read(file, at: now, budget: &budget)
            } catch {
                if error != .missing {
                    troubles.append(FolderWalk.Trouble(path: file.path, trouble: error))
                }
            }
            if let scan = scans[file.facts.identity] { readings.merge(scan.digest) }
        }
        return readings
    }

    private mutating func read(
        _ file: FolderWalk.File, at now: Date, budget: inout ScanBudget
    ) throws(FileTrouble) {
        var scan = scans[file.facts.identity] ?? TailScan(empty: ClaudeReadings())
        let isEnough = { (scan: TailScan<ClaudeReadings>) in
            scan.isComplete || scan.coveredByteCount >= Self.byteCountPerFile
        }
        guard !(scan.isCurrent(file.facts) && isEnough(scan)), budget.takeFile() else { return }
        let plan = TailScan<ClaudeReadings>.Plan(
            needles: ClaudeRefusal.needles, byteCount: budget.limits.byteCount)
        var spent = budget
        try ReadOnlyFile.withOpen(file.path) { open in
            scan.update(open, plan: plan, budget: &spent, isEnough: isEnough) { readings, line in
                guard var refusal = ClaudeRefusal(line: line) else { return }
                refusal.reading = refusal.reading.observed(notAfter: now)
                readings.add(refusal.reading, to: refusal.window)
            }
        }
        budget = spent
        scans[file.facts.identity] = scan
    }
}
