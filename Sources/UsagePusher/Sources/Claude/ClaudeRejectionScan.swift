import Foundation
import LocalFiles

/// Looks for rejections at the ends of transcripts, newest first.
///
/// A rejection is among the last lines of a session: 512 KiB from the end of each file modified in
/// the last seven days suffice, and what is appended later is read as it comes.
struct ClaudeRejectionScan: Sendable {
    private static let byteCountPerFile = 512 * 1_024
    private static let longestWindow = TimeInterval(WindowKind.weeklyMinutes * 60)

    private var scans = TailScans(empty: ClaudeReadings())

    /// - Parameter errors: files that cannot be opened are added.
    mutating func readings(
        in newestFirst: [DirectoryWalk.File], at now: Date, budget: inout ScanBudget,
        errors: inout [FileError]
    ) -> ClaudeReadings {
        let horizon = now.addingTimeInterval(-Self.longestWindow)
        let recent = newestFirst.prefix { $0.status.modificationDate >= horizon }
        scans.keep(recent)
        var readings = ClaudeReadings()
        for file in recent {
            let plan = TailScan<ClaudeReadings>.Plan(
                needles: ClaudeRejection.needles, byteCount: budget.limits.byteCount)
            do throws(FileError) {
                try scans.update(
                    file, plan: plan, budget: &budget,
                    isEnough: { $0.isComplete || $0.coveredByteCount >= Self.byteCountPerFile },
                    add: { readings, line in
                        guard let rejection = ClaudeRejection(line: line) else { return }
                        readings.add(
                            rejection.reading.observed(notAfter: now), to: rejection.window)
                    })
            } catch {
                if !error.isMissing { errors.append(error) }
            }
            if let digest = scans.digest(of: file) { readings.merge(digest) }
        }
        return readings
    }
}
