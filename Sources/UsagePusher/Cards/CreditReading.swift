import Foundation
import LocalFiles
import SnapshotModels

/// The turns that files of a tool state, read again only where a file has changed.
struct CreditFiles: Sendable {
    /// The days of which turns are added up.
    static let dayCount = 30

    struct Content: Sendable, Equatable {
        var uses: [CreditUse] = []
        /// Turns with a number or a time that cannot be.
        var leftOutCount = 0
        /// Why the file could not be read.
        var issue: String?

        mutating func add(_ use: CreditUse?) {
            if let use { uses.append(use) } else { leftOutCount += 1 }
        }
    }

    fileprivate struct Known {
        var status: FileStatus
        var content: Content
    }

    fileprivate var known: [String: Known] = [:]
}

extension UsageSource {
    /// The reading of a tool that states credits for each turn, and neither a limit nor what is left of it: a status text.
    /// `SyncCredits` is for what is left, and `SyncCostSummary` for dollars and tokens; both stay unknown.
    ///
    /// - Parameters:
    ///   - roots: directories of files, and single files; present or not.
    ///   - isWanted: whether a file of that path is read.
    ///   - content: reads one file.
    func readCredits(
        _ files: inout CreditFiles, roots: [String], title: String,
        in environment: SourceEnvironment, at now: Date,
        isEntered: (String) -> Bool = { _ in true }, isWanted: (String) -> Bool,
        content: (DirectoryWalk.File, inout ScanBudget) throws(FileError) -> CreditFiles.Content
    ) -> SourceReading {
        let start = now.addingTimeInterval(-Double(CreditFiles.dayCount) * 86_400)
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        let walk = DirectoryWalk(
            roots: roots, budget: &budget, acceptsFiles: true, isEntered: isEntered,
            isWanted: isWanted)
        var errors = walk.errors
        var uses = CreditUses()
        var usesOfRoots: [Int: CreditUses] = [:]
        var notes: [SourceFinding] = []
        var known: [String: CreditFiles.Known] = [:]
        // A file that was written before has no later turn.
        let current = walk.newestFirst.filter { $0.status.modificationDate > start }
        for file in current {
            if let old = files.known[file.path], old.status == file.status {
                known[file.path] = old
            } else if !budget.isExceeded {
                do throws(FileError) {
                    known[file.path] = .init(
                        status: file.status, content: try content(file, &budget))
                } catch {
                    errors.append(error)
                }
            }
            guard let content = known[file.path]?.content else { continue }
            for use in content.uses {
                uses.add(use)
                usesOfRoots[file.root, default: CreditUses()].add(use)
            }
            if let issue = content.issue {
                notes.append(
                    SourceFinding(
                        path: file.path, title: title, detail: "cannot be read: \(issue)",
                        isError: true))
            } else if content.leftOutCount > 0 {
                let turns = content.leftOutCount == 1 ? "1 turn" : "\(content.leftOutCount) turns"
                notes.append(
                    SourceFinding(
                        path: file.path, title: title,
                        detail: "\(turns) left out: no time, or credits that cannot be"))
            }
        }
        files.known = known
        reading.isPartial = budget.isExceeded
        reading.isInstalled =
            !walk.rootsFound.isEmpty || !walk.files.isEmpty
            || errors.contains(where: \.showsPresence)
        let sum = uses.sum(after: start, until: now)
        for root in walk.rootsFound.union(walk.files.map(\.root)).sorted() {
            let sum = usesOfRoots[root]?.sum(after: start, until: now)
            reading.findings.append(
                SourceFinding(
                    path: roots[root], title: title, observedAt: sum?.last,
                    detail: sum.flatMap(CreditText.used)
                        ?? "no credits in the last \(CreditFiles.dayCount) days"))
        }
        reading.findings += errors.map { $0.finding(title: title) }
        reading.findings += notes.sorted { $0.path < $1.path }
        let card = sum.last.map {
            ProviderUsageSnapshot(
                providerID: providerID, providerName: providerName,
                statusMessage: CreditText.status(sum),
                lastUpdated: $0)
        }
        reading.providers = [card].compactMap { $0 }
        return reading
    }
}

/// Credits in words. Pure.
enum CreditText {
    /// "12.75 credits in 14 turns in 30 days"; nil without a turn.
    static func used(_ sum: CreditUses.Sum) -> String? {
        guard sum.turnCount > 0 else { return nil }
        let turns = sum.turnCount == 1 ? "1 turn" : "\(sum.turnCount) turns"
        return "\(amount(sum.credits)) credits in \(turns) in \(CreditFiles.dayCount) days"
    }

    /// The same for viewers, who may expect what is left.
    static func status(_ sum: CreditUses.Sum) -> String? {
        used(sum).map { $0 + ", from one machine's files; the allowance is not in them" }
    }

    /// Two digits after the point, none where they are zero.
    private static func amount(_ credits: Double) -> String {
        let hundredths = Int((credits * 100).rounded())
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
