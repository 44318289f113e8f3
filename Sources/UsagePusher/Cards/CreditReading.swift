import Essentials
import LocalFiles
import SnapshotModels

/// The turns that files of a tool state, read again only where a file has changed.
struct CreditFiles: Sendable {
    /// The days of which turns are added up.
    static let dayCount = 30

    struct Content: Sendable, Equatable {
        var uses: [CreditUse] = []
        /// Turns with an invalid number or time.
        var leftOutCount = 0
        /// Why the file could not be read.
        var issue: String?

        mutating func add(_ use: CreditUse?) {
            if let use { uses.append(use) } else { leftOutCount += 1 }
        }
    }

    /// What a file stated when it was read last.
    fileprivate struct Known {
        var file: DirectoryWalk.File
        var content: Content
    }

    fileprivate var known: [String: Known] = [:]
}

extension CreditFiles {
    /// The files that were found, newest first; databases with the time of their log. Of a listing that was cut also
    /// those that are known and still there.
    fileprivate func files(of walk: DirectoryWalk, roots: [String], isCut: Bool) -> [DirectoryWalk.File] {
        var files = walk.files.map { file in
            var file = file
            if roots[file.root] == file.path {
                file.status = file.status.includingDatabaseLog(of: file.path)
            }
            return file
        }
        if isCut {
            let listed = Set(files.map(\.path))
            files += known.values.map(\.file).filter {
                !listed.contains($0.path) && SideFile($0.path).exists
            }
        }
        return files.sorted(by: DirectoryWalk.isNewer)
    }
}

extension UsageSource {
    /// The reading of a tool that states credits for each turn, and neither a limit nor what is left of it: a status
    /// text. `SyncCredits` is for what is left, and `SyncCostSummary` for dollars and tokens; both stay unknown.
    ///
    /// - Parameters:
    ///   - roots: directories of files, and single files; present or not.
    ///   - isWanted: whether a file of that name is read.
    ///   - content: reads one file; nil when it is in use, or the budget has ended.
    func readCredits(
        _ files: inout CreditFiles, roots: [String], title: String,
        in environment: SourceEnvironment, at now: Date, isWanted: (String) -> Bool,
        content: (DirectoryWalk.File, inout ScanBudget) throws(FileError) -> CreditFiles.Content?
    ) -> SourceReading {
        let start = now.addingTimeInterval(-Double(CreditFiles.dayCount) * 86_400)
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        let walk = DirectoryWalk(roots: roots, budget: &budget, acceptsFiles: true, isWanted: isWanted)
        var errors = walk.errors
        var uses = CreditUses()
        var usesOfRoots: [Int: CreditUses] = [:]
        var notes: [SourceFinding] = []
        var known: [String: CreditFiles.Known] = [:]
        // A file that was written before has no later turn.
        let current = files.files(of: walk, roots: roots, isCut: budget.isExceeded).filter {
            $0.status.modificationDate > start
        }
        for file in current {
            // What was read stays until the file can be read again.
            known[file.path] = files.known[file.path]
            if known[file.path]?.file.status != file.status, budget.hasRoom(for: file.status) {
                do throws(FileError) {
                    if let content = try content(file, &budget) {
                        known[file.path] = .init(file: file, content: content)
                    } else {
                        budget.markExceeded()
                    }
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
                    SourceFinding(path: file.path, title: title, detail: "cannot be read: \(issue)", isError: true))
            } else if content.leftOutCount > 0 {
                let turns = content.leftOutCount == 1 ? "1 turn" : "\(content.leftOutCount) turns"
                notes.append(
                    SourceFinding(
                        path: file.path, title: title, detail: "\(turns) left out: no time, or credits that cannot be"))
            }
        }
        files.known = known
        reading.isPartial = budget.isExceeded
        reading.isInstalled =
            !walk.rootsFound.isEmpty || !walk.files.isEmpty
            || errors.contains(where: \.showsPresence)
        let sum = uses.sum(after: start, until: now)
        let noCredits =
            errors.isEmpty && notes.allSatisfy { !$0.isError } && !budget.isExceeded
            ? "no credits in the last \(CreditFiles.dayCount) days"
            : "no credits in what could be read"
        for root in walk.rootsFound.union(walk.files.map(\.root)).sorted() {
            let sum = usesOfRoots[root]?.sum(after: start, until: now)
            reading.findings.append(
                SourceFinding(
                    path: roots[root], title: title, observedAt: sum?.last,
                    detail: sum.flatMap(CreditFormatter.used) ?? noCredits))
        }
        reading.findings += errors.map { $0.finding(title: title) }
        reading.findings += notes.sorted { $0.path < $1.path }
        let issues = reading.issues
        if let last = sum.last {
            var card = ProviderUsageSnapshot(
                providerID: providerID, providerName: providerName,
                statusMessage: CreditFormatter.status(sum), lastUpdated: last)
            if let notice = issues.notice { card.state(notice) }
            reading.providers = [card]
        } else if reading.isInstalled {
            reading.providers = cards([], issues: issues, at: now).map(\.snapshot)
        }
        return reading
    }
}

/// Credits as text.
enum CreditFormatter {
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
