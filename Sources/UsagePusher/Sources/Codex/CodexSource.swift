public import Foundation
import SnapshotModels

/// Codex's limits, from the rollouts that the Codex CLI writes.
///
/// Every reply of the provider states the limits, and Codex writes them down: the numbers are the
/// provider's own, as old as the last reply on this machine. The files do not say which account
/// wrote a line: after a switch of accounts, lines of the former one count until their windows are
/// reset.
public struct CodexSource: UsageSource {
    public let providerID = "codex"
    public let providerName = "Codex"
    private var scan = CodexScan()

    public init() {}

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let folders = CodexFolders(environment)
        return [
            WatchedPath(folders.authentication),
            WatchedPath(folders.sessions, isRecursive: true),
        ]
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(
        in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget
    ) -> SourceReading {
        let folders = CodexFolders(environment)
        do throws(FileTrouble) {
            guard try FileFacts(path: folders.root).kind == .folder else { throw .wrongKind }
        } catch {
            return notInstalled(folders, trouble: error, now: now)
        }

        var findings: [SourceFinding] = []
        let account = readAccount(folders, budget: &budget, findings: &findings)
        let walk = FolderWalk(
            roots: [folders.sessions, folders.archive], budget: &budget,
            isWanted: CodexRollouts.isOne)
        var troubles = walk.troubles
        let rollouts = CodexRollouts(walk)
        let digest = scan.digest(
            of: rollouts.newestFirst, at: now, budget: &budget, troubles: &troubles)
        let report = CodexReport(digest: digest, account: account?.account, now: now)

        findings.insert(sessionsFinding(folders, report, rollouts), at: 0)
        if let finding = rollouts.compressedFinding(folders) { findings.append(finding) }
        findings += troubles.map { $0.finding(title: "Codex sessions") }

        var provider = report.provider(accountSeenAt: account?.seenAt)
        if provider?.hasNumbers != true, let trouble = troubles.first {
            provider = .unreadable(
                providerID: providerID, providerName: providerName, trouble, now: now)
        }
        return SourceReading(
            isInstalled: true, provider: provider, findings: findings,
            isPartial: budget.isExceeded)
    }

    private func notInstalled(
        _ folders: CodexFolders, trouble: FileTrouble, now: Date
    ) -> SourceReading {
        guard trouble != .missing else {
            let finding = SourceFinding(
                path: folders.root, title: "Codex folder", detail: "Codex is not set up here")
            return SourceReading(isInstalled: false, findings: [finding])
        }
        let isUnknown = trouble == .denied
        let trouble = FolderWalk.Trouble(path: folders.root, trouble: trouble)
        // Whether it is set up behind a folder that is closed to us cannot be known.
        if isUnknown {
            return SourceReading(
                isInstalled: false, findings: [trouble.finding(title: "Codex folder")])
        }
        return SourceReading(
            isInstalled: true,
            provider: .unreadable(
                providerID: providerID, providerName: providerName, trouble, now: now),
            findings: [trouble.finding(title: "Codex folder")])
    }

    private func readAccount(
        _ folders: CodexFolders, budget: inout ScanBudget, findings: inout [SourceFinding]
    ) -> (account: CodexAccount, seenAt: Date)? {
        func note(_ detail: String) {
            findings.append(
                SourceFinding(path: folders.authentication, title: "Codex login", detail: detail))
        }
        do throws(FileTrouble) {
            let document = try DocumentReader.read(folders.authentication, budget: &budget)
            guard let fields = document.fields else {
                note("it is not a JSON object; the account stays unknown")
                return nil
            }
            let account = CodexAccount(authentication: fields)
            note(
                account.usesAPIKey
                    ? "an API key, which has no plan limits"
                    : account.email == nil ? "no account named" : "a ChatGPT account")
            return (account, document.facts.modifiedAt)
        } catch {
            note(
                error == .missing
                    ? "no login file (the login may be in the system's keyring)" : error.words)
            return nil
        }
    }

    private func sessionsFinding(
        _ folders: CodexFolders, _ report: CodexReport, _ rollouts: CodexRollouts
    ) -> SourceFinding {
        let main = report.mainWindows
        var details = main.map { kind, reading in
            "\(kind.words) \(reading.percentWords) used"
        }
        if let words = report.expiredWords { details.append(words) }
        if details.isEmpty {
            details.append(
                rollouts.newestFirst.isEmpty
                    ? "no sessions" : "no rate limits in the sessions that were read")
        }
        return SourceFinding(
            path: folders.sessions, title: "Codex sessions",
            certainty: main.isEmpty ? nil : .cachedExact,
            observedAt: main.map(\.reading.observedAt).max(),
            detail: details.joined(separator: "; "))
    }
}
