public import Essentials
import LocalFiles
import SnapshotModels

/// Reads Claude's limits from what Claude Code leaves on disk: captures of its status line (see
/// `ClaudeStatuslineStore`), its own cache of the limits, and rejections in its transcripts.
///
/// Tokens in transcripts are never converted to a percentage: much of an account's usage happens elsewhere. Captures
/// and the cache name their account; a rejection belongs to the one that was logged in at its time.
///
/// For an example see `SourceEnvironment`.
public struct ClaudeSource: UsageSource {
    public let providerID = "claude"
    public let providerName = "Claude"
    public let toolName = "Claude Code"
    public let variables = ["CLAUDE_CONFIG_DIR"]
    public let homeMarks = ["projects", ".claude.json"]
    public let homeSettings = ["settings.json", ".credentials.json"]
    private var rejectionScans: [String: ClaudeRejectionScan] = [:]
    private var states = ClaudeStateFiles()

    public init() {}

    public func ownHomes(in environment: SourceEnvironment) -> [String] {
        ClaudePaths.homes(in: environment)[0].roots
    }

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        [WatchedPath(ClaudeStatuslineStore.directory(in: environment))]
            + ClaudePaths.homes(in: environment).flatMap { paths in
                (paths.stateGroups.flatMap { $0 } + paths.credentials).map { WatchedPath($0) }
                    + paths.projects.map { WatchedPath($0, isRecursive: true) }
            }
    }

    /// The fingerprint of the account that is logged in, for a capture: a session waits, so only a state file of up to
    /// 2 MiB is read.
    package static func presentAccount(in environment: SourceEnvironment) -> String? {
        var environment = environment
        environment.limits.objectByteCount = 2 * 1_048_576
        var budget = ScanBudget(environment)
        var files = ClaudeFiles(now: Date())
        var states = ClaudeStateFiles()
        return ClaudePaths.homes(in: environment).first.flatMap {
            files.state($0, known: &states, budget: &budget)?.account?.id
        }
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget) -> SourceReading {
        var reading = SourceReading(isInstalled: false, accounts: environment.accounts)
        let homes = ClaudePaths.homes(in: environment)
        var files = homes.map { _ in ClaudeFiles(now: now) }
        let states = homes.indices.map {
            files[$0].state(homes[$0], known: &self.states, budget: &budget)
        }
        let captures = files[0].captures(in: ClaudeStatuslineStore.directory(in: environment), budget: &budget)
        var cards: [AccountCard] = []
        for index in homes.indices {
            // A capture that names no account is of the first home; one that does, of a home with an account.
            let hasAccount = states[index]?.account?.id != nil
            let own = captures.filter {
                $0.account == nil ? index == 0 : hasAccount || homes.count == 1
            }
            cards += read(
                homes[index], states[index], captures: own, files: &files[index], into: &reading,
                isOnly: homes.count == 1, explains: environment.explains, at: now, &budget)
        }
        reading.providers = cards.distinctlyNamed
        reading.isPartial = budget.isExceeded
        return reading
    }

    private mutating func read(
        _ paths: ClaudePaths, _ state: ClaudeState?, captures: Evidence, files: inout ClaudeFiles,
        into reading: inout SourceReading, isOnly: Bool, explains: Bool, at now: Date, _ budget: inout ScanBudget
    ) -> [AccountCard] {
        let credentials = files.credentials(paths, budget: &budget)
        var cards = AccountCards(
            providerID: providerID, home: paths.root, present: state?.account?.id,
            organization: state?.account?.organization, changedAt: min(files.accountSeenAt ?? now, now),
            accounts: reading.accounts ?? AccountHistory(), areReadingsOwn: isOnly)
        var evidence = captures
        if let cache = state?.cache { evidence.merge(cache.evidence.dated(at: now)) }

        var errors: [FileError] = []
        let walk = DirectoryWalk(roots: paths.projects, budget: &budget) { $0.hasSuffix(".jsonl") }
        let rejections = rejectionScans[paths.root, default: ClaudeRejectionScan()].evidence(
            in: walk.newestFirst,
            since: evidence.filter { cards.account(of: $0) == cards.present }.oldestNeeded(at: now),
            at: now, budget: &budget, errors: &errors)
        evidence.merge(rejections)
        errors = walk.errors + errors
        files.add(transcripts: rejections, paths, walk, isComplete: errors.isEmpty && !budget.isExceeded)
        files.add(errors, title: "Claude transcripts")
        let issues = SourceIssues(files.findings, isPartial: budget.isExceeded)

        let hasAccount = state?.account != nil || credentials != nil
        let seenAt = hasAccount ? files.accountSeenAt : nil
        let shown = cards.cards(of: evidence, at: now) {
            ClaudeReport(
                evidence: $0, account: state?.account, credentials: credentials, issues: issues, now: now
            ).provider(accountSeenAt: seenAt)
        }
        reading.accounts = cards.accounts
        reading.findings += files.findings
        if files.isInstalled { reading.isInstalled = true }
        if explains {
            reading.considered += cards.considered(evidence, name: state?.account?.email, at: now)
        }
        return files.isInstalled ? self.cards(shown, issues: issues, at: now) : []
    }
}

extension Evidence {
    /// The time from which a rejection could be newer than what is known of session and week; nil when any could.
    fileprivate func oldestNeeded(at now: Date) -> Date? {
        let known = [ClaudeWindow.session, .weekly].map { newest($0.limit)?.observedAt }
        guard let session = known[0], let weekly = known[1] else { return nil }
        return min(session, weekly, now)
    }
}
