public import Foundation
import LocalFiles
import SnapshotModels

/// Reads Claude's limits from what Claude Code leaves on disk: captures of its status line (see
/// `ClaudeStatuslineStore`), its own cache of the limits, and rejections in its transcripts.
///
/// Tokens in transcripts are never converted to a percentage: much of an account's usage happens
/// elsewhere. Captures and rejections do not name their account: after a switch of accounts, those
/// of the former one count until their windows are reset.
public struct ClaudeSource: UsageSource {
    public let providerID = "claude"
    public let providerName = "Claude"
    private var rejectionScan = ClaudeRejectionScan()

    public init() {}

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let paths = ClaudePaths(environment)
        let files = paths.stateGroups.flatMap { $0 } + paths.credentials
        return [WatchedPath(paths.captures)] + files.map { WatchedPath($0) }
            + paths.projects.map { WatchedPath($0, isRecursive: true) }
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(
        in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget
    ) -> SourceReading {
        let paths = ClaudePaths(environment)
        var files = ClaudeFiles(now: now)
        let state = files.state(paths, budget: &budget)
        let credentials = files.credentials(paths, budget: &budget)
        var report = ClaudeReport(account: state?.account, credentials: credentials, now: now)
        report.readings = files.captures(paths, budget: &budget)
        if let state, let cache = state.cache, !state.isCacheOfAnotherAccount {
            report.readings.merge(cache.readings)
            report.budget = cache.budget.map { Timestamped(value: $0, at: cache.fetchedAt) }
        }

        var errors: [FileError] = []
        let walk = DirectoryWalk(roots: paths.projects, budget: &budget) { $0.hasSuffix(".jsonl") }
        report.rejections = rejectionScan.readings(
            in: walk.newestFirst, at: now, budget: &budget, errors: &errors)
        files.add(transcripts: report.rejections, paths, walk)
        files.add(walk.errors + errors, title: "Claude transcripts")

        let hasAccount = report.account != nil || credentials != nil
        let provider = provider(
            report.provider(accountSeenAt: hasAccount ? files.accountSeenAt : nil),
            orFirstOf: files.errors, at: now)
        return SourceReading(
            isInstalled: files.isInstalled, provider: files.isInstalled ? provider : nil,
            findings: files.findings, isPartial: budget.isExceeded)
    }
}
