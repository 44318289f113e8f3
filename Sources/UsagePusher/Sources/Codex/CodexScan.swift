import Foundation

/// Reads the tails of Codex rollouts, newest file first, and remembers what each file told.
///
/// When to stop. The provider's percent only grows within a window, so the number that counts is
/// in the line that was really written last; copies made by forks are older lines with fresh
/// times. Hence:
/// - Across files: once the session and the weekly window are known, the line that counts was
///   written after the session window began, in a file modified since; older files are not
///   opened. With only some windows known the bound is the start of the weekly window, with none
///   31 days (the longest window seen).
/// - Within a file: once it has told both windows, or has told one and 1 MiB was read, its older
///   lines can only hold smaller numbers.
/// - A file without any such line gets 8 MiB in a first round, so that it does not use up what the
///   others need, and the rest of the budget in a second.
struct CodexScan: Sendable {
    private static let firstRoundByteCount = 8 * 1_048_576
    private static let afterFirstWindowByteCount: Int64 = 1_048_576
    private static let longestWindow: TimeInterval = 31 * 86_400
    private static let weeklyWindow = TimeInterval(WindowKind.weeklyMinutes * 60)
    private static let sessionWindow = TimeInterval(WindowKind.sessionMinutes * 60)

    private var scans: [FileFacts.Identity: TailScan<CodexDigest>] = [:]

    /// What the files say together; `newestFirst` are all that exist now.
    ///
    /// - Parameter troubles: files that could not be opened are added.
    mutating func digest(
        of newestFirst: [FolderWalk.File], at now: Date, budget: inout ScanBudget,
        troubles: inout [FolderWalk.Trouble]
    ) -> CodexDigest {
        let present = Set(newestFirst.map(\.facts.identity))
        scans = scans.filter { present.contains($0.key) }
        var unreadable: Set<FileFacts.Identity> = []
        var digest = CodexDigest()
        for byteCount in [Self.firstRoundByteCount, Int.max] {
            for file in newestFirst where !unreadable.contains(file.facts.identity) {
                if file.facts.modifiedAt < Self.horizon(for: digest, at: now) { break }
                if let trouble = read(file, byteCount: byteCount, at: now, budget: &budget) {
                    unreadable.insert(file.facts.identity)
                    troubles.append(FolderWalk.Trouble(path: file.path, trouble: trouble))
                }
                if let scan = scans[file.facts.identity] { digest.merge(scan.digest) }
            }
        }
        return digest
    }

    /// Files last modified before this moment cannot hold a number that counts.
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

    private mutating func read(
        _ file: FolderWalk.File, byteCount: Int, at now: Date, budget: inout ScanBudget
    ) -> FileTrouble? {
        var scan = scans[file.facts.identity] ?? TailScan(empty: CodexDigest())
        let depthLimit = budget.limits.byteCount
        let isEnough = { Self.isEnough($0, depthLimit: depthLimit) }
        if scan.isCurrent(file.facts), isEnough(scan) { return nil }
        guard budget.takeFile() else { return nil }
        let plan = TailScan<CodexDigest>.Plan(needles: [CodexRow.needle], byteCount: byteCount)
        var spent = budget
        do throws(FileTrouble) {
            try ReadOnlyFile.withOpen(file.path) { open in
                scan.update(open, plan: plan, budget: &spent, isEnough: isEnough) { digest, line in
                    if let row = CodexRow(line: line) { digest.add(row, now: now) }
                }
            }
        } catch {
            return error == .missing ? nil : error
        }
        budget = spent
        scans[file.facts.identity] = scan
        return nil
    }

    private static func isEnough(_ scan: TailScan<CodexDigest>, depthLimit: Int) -> Bool {
        if scan.isComplete || scan.coveredByteCount >= depthLimit { return true }
        let kinds = scan.digest.mainKinds
        if kinds.contains(.session), kinds.contains(.weekly) { return true }
        return !kinds.isEmpty && scan.coveredByteCount >= afterFirstWindowByteCount
    }
}
