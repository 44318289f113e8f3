import Foundation
import LocalFiles

/// Reads the tails of Codex rollouts, newest file first.
///
/// When to stop: the provider's percent only grows within a window, so the number that counts is
/// in the line that was really written last; copies made by forks are older lines with fresh
/// times. Hence:
/// - Across files: once the session and the weekly window are known, the line that counts was
///   written after the session window began, in a file modified since; older files are not
///   opened. With only some windows known the bound is the start of the weekly window, with none
///   31 days (the longest window seen).
/// - Within a file: once it has yielded both windows, or one window in 1 MiB, its older lines can
///   only contain smaller numbers.
/// - A file without any such line gets 8 MiB in a first round, so that it leaves some of the
///   budget to the others, and the rest in a second.
struct CodexScan: Sendable {
    private static let firstRoundByteCount = 8 * 1_048_576
    private static let afterFirstWindowByteCount: Int64 = 1_048_576
    private static let longestWindow: TimeInterval = 31 * 86_400
    private static let weeklyWindow = TimeInterval(WindowKind.weeklyMinutes * 60)
    private static let sessionWindow = TimeInterval(WindowKind.sessionMinutes * 60)

    private var scans = TailScans(empty: CodexDigest())

    /// The digest of all files; `newestFirst` are those that exist now.
    ///
    /// - Parameter errors: files that cannot be opened are added.
    mutating func digest(
        of newestFirst: [DirectoryWalk.File], at now: Date, budget: inout ScanBudget,
        errors: inout [FileError]
    ) -> CodexDigest {
        scans.keep(newestFirst)
        var unreadable: Set<FileStatus.Identity> = []
        var digest = CodexDigest()
        let depthLimit = budget.limits.byteCount
        for byteCount in [Self.firstRoundByteCount, Int.max] {
            let plan = TailScan<CodexDigest>.Plan(needles: [CodexRow.needle], byteCount: byteCount)
            for file in newestFirst where !unreadable.contains(file.status.identity) {
                if file.status.modificationDate < Self.horizon(for: digest, at: now) { break }
                do throws(FileError) {
                    try scans.update(
                        file, plan: plan, budget: &budget,
                        isEnough: { Self.isEnough($0, depthLimit: depthLimit) },
                        add: { digest, line in
                            if let row = CodexRow(line: line) { digest.add(row, now: now) }
                        })
                } catch {
                    if !error.isMissing {
                        unreadable.insert(file.status.identity)
                        errors.append(error)
                    }
                }
                if let fileDigest = scans.digest(of: file) { digest.merge(fileDigest) }
            }
        }
        return digest
    }

    /// Files last modified before this time cannot contain a number that counts.
    static func horizon(for digest: CodexDigest, at now: Date) -> Date {
        let session = digest.current(.session, at: now)
        let weekly = digest.current(.weekly, at: now)
        if let session, weekly != nil {
            return start(of: session, lasting: Self.sessionWindow, now: now)
        }
        if session != nil { return now.addingTimeInterval(-Self.weeklyWindow) }
        if let weekly { return start(of: weekly, lasting: Self.weeklyWindow, now: now) }
        return now.addingTimeInterval(-Self.longestWindow)
    }

    private static func start(
        of reading: WindowReading, lasting length: TimeInterval, now: Date
    ) -> Date {
        (reading.resetsAt ?? now).addingTimeInterval(-length - WindowReadings.sameWindow)
    }

    private static func isEnough(_ scan: TailScan<CodexDigest>, depthLimit: Int) -> Bool {
        if scan.isComplete || scan.coveredByteCount >= depthLimit { return true }
        let kinds = scan.digest.mainKinds
        if kinds.contains(.session), kinds.contains(.weekly) { return true }
        return !kinds.isEmpty && scan.coveredByteCount >= afterFirstWindowByteCount
    }
}
