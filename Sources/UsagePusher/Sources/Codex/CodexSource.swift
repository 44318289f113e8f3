public import Foundation
import LocalFiles
import SnapshotModels

/// Reads Codex's limits from the rollouts that the Codex CLI writes.
///
/// Codex records the limits that every reply of the provider states: the provider's own numbers,
/// as old as the last reply on this machine. A line does not name its account: after a switch of
/// accounts, lines of the former one count until their windows are reset.
public struct CodexSource: UsageSource {
    public let providerID = "codex"
    public let providerName = "Codex"
    private var scan = CodexScan()

    public init() {}

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let paths = CodexPaths(environment)
        return [
            WatchedPath(paths.authentication), WatchedPath(paths.sessions, isRecursive: true),
        ]
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(
        in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget
    ) -> SourceReading {
        let paths = CodexPaths(environment)
        if let reading = absence(paths, at: now) { return reading }

        var findings: [SourceFinding] = []
        let account = readAccount(paths, budget: &budget, findings: &findings)
        let walk = DirectoryWalk(
            roots: [paths.sessions, paths.archive], budget: &budget,
            isWanted: CodexRollouts.isOne)
        var errors = walk.errors
        let rollouts = CodexRollouts(walk)
        let digest = scan.digest(
            of: rollouts.newestFirst, at: now, budget: &budget, errors: &errors)
        let report = CodexReport(digest: digest, account: account?.account, now: now)

        findings.insert(sessionsFinding(paths, report, rollouts), at: 0)
        if let finding = rollouts.compressedFinding { findings.append(finding) }
        findings += errors.map { $0.finding(title: "Codex sessions") }
        return SourceReading(
            isInstalled: true,
            provider: provider(
                report.provider(accountSeenAt: account?.seenAt), orFirstOf: errors, at: now),
            findings: findings, isPartial: budget.isExceeded)
    }

    /// The reading when there is no directory of Codex's; nil when there is one.
    private func absence(_ paths: CodexPaths, at now: Date) -> SourceReading? {
        let title = "Codex directory"
        do throws(FileError) {
            guard let status = try FileStatus(path: paths.root) else {
                let finding = SourceFinding(
                    path: paths.root, title: title, detail: "Codex is not set up here")
                return SourceReading(isInstalled: false, findings: [finding])
            }
            guard status.kind != .directory else { return nil }
            throw FileError(operation: "list", path: paths.root, cause: .notADirectory)
        } catch {
            // Behind a directory that we may not search there may be nothing.
            let isInstalled = !error.isPermissionDenied
            return SourceReading(
                isInstalled: isInstalled,
                provider: isInstalled ? provider(nil, orFirstOf: [error], at: now) : nil,
                findings: [error.finding(title: title)])
        }
    }

    private func readAccount(
        _ paths: CodexPaths, budget: inout ScanBudget, findings: inout [SourceFinding]
    ) -> (account: CodexAccount, seenAt: Date)? {
        let title = "Codex login"
        func add(_ detail: String) {
            findings.append(
                SourceFinding(path: paths.authentication, title: title, detail: detail))
        }
        do throws(FileError) {
            guard let document = try budget.readDocument(paths.authentication) else {
                add("no login file (the login may be in the system's keyring)")
                return nil
            }
            guard let fields = document.fields else {
                add("not a JSON object; the account is unknown")
                return nil
            }
            let account = CodexAccount(authentication: fields)
            add(
                account.usesAPIKey
                    ? "an API key, which has no plan limits"
                    : account.email == nil ? "no account named" : "a ChatGPT account")
            return (account, document.modificationDate)
        } catch {
            findings.append(error.finding(title: title))
            return nil
        }
    }

    private func sessionsFinding(
        _ paths: CodexPaths, _ report: CodexReport, _ rollouts: CodexRollouts
    ) -> SourceFinding {
        let main = report.mainWindows
        var details = main.map { kind, reading in "\(kind.name) \(reading.percentText) used" }
        if let notice = report.resetNotice { details.append(notice) }
        if details.isEmpty {
            details.append(
                rollouts.newestFirst.isEmpty
                    ? "no sessions" : "no rate limits in the sessions that were read")
        }
        return SourceFinding(
            path: paths.sessions, title: "Codex sessions",
            certainty: main.isEmpty ? nil : .cachedExact,
            observedAt: main.map(\.reading.observedAt).max(),
            detail: details.joined(separator: "; "))
    }
}
