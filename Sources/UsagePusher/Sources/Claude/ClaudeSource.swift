public import Foundation
import SnapshotModels

/// Claude's limits, from what Claude Code leaves on disk: captures of its status line (see
/// `ClaudeStatuslineStore`), its own cache of the limits, and refusals in its transcripts.
///
/// Tokens in transcripts are never turned into a percent: much of an account's use happens
/// elsewhere. Captures and refusals do not say which account they belong to: after a switch of
/// accounts, those of the former one count until their windows are reset.
public struct ClaudeSource: UsageSource {
    public let providerID = "claude"
    public let providerName = "Claude"
    private var refusalScan = ClaudeRefusalScan()

    public init() {}

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let folders = ClaudeFolders(environment)
        let files = folders.stateGroups.flatMap { $0 } + folders.credentials
        return [WatchedPath(folders.captures)] + files.map { WatchedPath($0) }
            + folders.projects.map { WatchedPath($0, isRecursive: true) }
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(
        in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget
    ) -> SourceReading {
        let folders = ClaudeFolders(environment)
        var files = ClaudeFiles(now: now)
        let state = files.state(folders, budget: &budget)
        let credentials = files.credentials(folders, budget: &budget)
        let captures = files.captures(folders, budget: &budget)

        var troubles: [FolderWalk.Trouble] = []
        let walk = FolderWalk(roots: folders.projects, budget: &budget) { $0.hasSuffix(".jsonl") }
        let refusals = refusalScan.refusals(
            in: walk.newestFirst, at: now, budget: &budget, troubles: &troubles)
        files.note(transcripts: refusals, folders, walk)
        files.note(walk.troubles + troubles, title: "Claude transcripts")

        var report = ClaudeReport(account: state?.account, credentials: credentials, now: now)
        report.readings = captures
        if let cache = state?.usableCache {
            report.readings.merge(cache.readings)
            report.budget = cache.budget.map { Dated(value: $0, at: cache.fetchedAt) }
        }
        report.refusals = refusals
        let isInstalled = files.foundSomething

        var provider = report.provider(
            accountSeenAt: report.account == nil && credentials == nil ? nil : files.accountSeenAt)
        if provider?.hasNumbers != true, let trouble = files.troubles.first {
            provider = .unreadable(
                providerID: providerID, providerName: providerName, trouble, now: now)
        }
        return SourceReading(
            isInstalled: isInstalled, provider: isInstalled ? provider : nil,
            findings: files.findings, isPartial: budget.isExceeded)
    }
}

extension ClaudeState {
    fileprivate var usableCache: Cache? { isCacheOfAnotherAccount ? nil : cache }
}
