import Essentials
import LocalFiles
import SnapshotModels

/// Reads Codex's limits from the rollouts that the Codex CLI writes.
///
/// Codex records the limits that every reply of the provider states: the provider's own numbers, as old as the last
/// reply on this machine. A line does not name its account; it belongs to the one that was logged in at its time.
/// If the user has allowed it, Codex itself is asked as well (`CodexAsking`); its answers are read from a file.
struct CodexSource: UsageSource {
    let providerID = "codex"
    let providerName = "Codex"
    let variables = ["CODEX_HOME"]
    let homeMarks = ["sessions", "auth.json"]
    let homeSettings = ["config.toml"]
    private var scans: [String: CodexScan] = [:]
    /// By home; a login file that has not changed is not opened again.
    private var logins: [String: (status: FileStatus, account: CodexAccount)] = [:]

    private let zstandard: @Sendable () -> Zstandard?

    init() { self.init(zstandard: { Zstandard.installed }) }

    /// - Parameter zstandard: called when there is a compressed file to read.
    init(zstandard: @escaping @Sendable () -> Zstandard?) {
        self.zstandard = zstandard
    }

    func ownHomes(in environment: SourceEnvironment) -> [String] {
        [CodexPaths.homes(in: environment)[0].root]
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        CodexPaths.homes(in: environment).flatMap { paths in
            [
                WatchedPath(paths.authentication), WatchedPath(paths.sessions, isRecursive: true),
                WatchedPath(paths.archive),
            ]
        } + [WatchedPath(CodexAsking.directory(in: environment))]
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var budget = ScanBudget(environment)
        return read(in: environment, at: now, budget: &budget)
    }

    mutating func read(in environment: SourceEnvironment, at now: Date, budget: inout ScanBudget) -> SourceReading {
        var reading = SourceReading(isInstalled: false, accounts: environment.accounts)
        var cards: [AccountCard] = []
        for paths in CodexPaths.homes(in: environment) {
            if !addAbsence(of: paths, to: &reading, &cards, at: now) {
                cards += read(paths, into: &reading, environment, at: now, &budget)
            }
        }
        reading.providers = cards.distinctlyNamed
        reading.isPartial = budget.isExceeded
        return reading
    }

    private mutating func read(
        _ paths: CodexPaths, into reading: inout SourceReading, _ environment: SourceEnvironment, at now: Date,
        _ budget: inout ScanBudget
    ) -> [AccountCard] {
        let first = reading.findings.endIndex
        let login = readAccount(paths, budget: &budget, findings: &reading.findings)
        let walk = DirectoryWalk(
            roots: [paths.sessions, paths.archive], budget: &budget, isWanted: CodexRollouts.isOne)
        var errors = walk.errors
        let rollouts = CodexRollouts(walk)
        var compressedFindings: [SourceFinding] = []
        var evidence = scans[paths.root, default: CodexScan(zstandard: zstandard)].evidence(
            in: rollouts.newestFirst, at: now, budget: &budget, errors: &errors, findings: &compressedFindings)
        var cards = AccountCards(
            providerID: providerID, home: paths.root, present: login?.account.id,
            hasLimits: login?.account.usesAPIKey != true, changedAt: min(login?.seenAt ?? now, now),
            accounts: reading.accounts ?? AccountHistory(), conflict: { login?.account.conflict(with: $0, at: now) })
        let account = login?.account
        reading.findings += evidence.flawedFindings(title: "Codex sessions")
        reading.findings += compressedFindings
        reading.findings += errors.map { $0.finding(title: "Codex sessions") }
        let issues = SourceIssues(reading.findings[first...], isPartial: budget.isExceeded)
        func report(_ evidence: Evidence) -> CodexReport {
            CodexReport(evidence: evidence, account: account, issues: issues, now: now)
        }
        let own = report(evidence.filter { cards.account(of: $0) == cards.present })
        let conflict = cards.lastConflict(in: evidence, at: now)
        let asked = CodexAsked(
            state: CodexAsking.state(of: paths.root, in: environment), settings: environment.asking[providerID],
            path: CodexAsking.path(of: paths.root, in: environment))
        let answers = asked.evidence(of: account, logins: cards, at: now)
        evidence.merge(answers)
        let shown = cards.cards(of: evidence, at: now) {
            report($0).provider(accountSeenAt: login?.seenAt)
        }
        reading.isInstalled = true
        reading.accounts = cards.accounts
        reading.findings.insert(sessionsFinding(paths, own, rollouts, conflict), at: first)
        let ownAnswers = report(answers.filter { cards.account(of: $0) == cards.present })
        if let finding = asked.finding(ownAnswers, newest: evidence.newest(where: \.statesLimit)) {
            reading.findings += [finding] + answers.flawedFindings(title: finding.title)
        }
        if environment.explains {
            reading.considered += cards.considered(evidence, name: account?.email, at: now)
        }
        return self.cards(shown, issues: issues, at: now)
    }

    /// Whether there is no directory of Codex's, which is then a finding.
    private func addAbsence(
        of paths: CodexPaths, to reading: inout SourceReading, _ cards: inout [AccountCard], at now: Date
    ) -> Bool {
        let title = "Codex directory"
        do throws(FileError) {
            guard let status = try FileStatus(path: paths.root) else {
                reading.findings.append(
                    SourceFinding(path: paths.root, title: title, detail: "Codex is not set up here"))
                return true
            }
            guard status.kind != .directory else { return false }
            throw FileError(operation: "list", path: paths.root, cause: .notADirectory)
        } catch {
            reading.findings.append(error.finding(title: title))
            if error.showsPresence {
                reading.isInstalled = true
                cards += self.cards([], issues: reading.issues, at: now)
            }
            return true
        }
    }

    private mutating func readAccount(
        _ paths: CodexPaths, budget: inout ScanBudget, findings: inout [SourceFinding]
    ) -> (account: CodexAccount, seenAt: Date)? {
        let title = "Codex login"
        func add(_ detail: String, isError: Bool = false) {
            findings.append(SourceFinding(path: paths.authentication, title: title, detail: detail, isError: isError))
        }
        do throws(FileError) {
            if try FileStatus(path: paths.authentication) != logins[paths.root]?.status { logins[paths.root] = nil }
            if logins[paths.root] == nil {
                guard let document = try budget.readDocument(paths.authentication) else {
                    add("no login file (the login may be in the system's keyring)")
                    return nil
                }
                guard let fields = document.fields else {
                    add("is not a JSON object; the account is unknown", isError: true)
                    return nil
                }
                logins[paths.root] = (document.status, CodexAccount(authentication: fields))
            }
            guard let (status, account) = logins[paths.root] else { return nil }
            add(
                account.usesAPIKey
                    ? "an API key, which has no plan limits"
                    : account.email == nil ? "no account named" : "a ChatGPT account")
            return (account, status.modificationDate)
        } catch {
            findings.append(error.finding(title: title))
            return nil
        }
    }

    private func sessionsFinding(
        _ paths: CodexPaths, _ report: CodexReport, _ rollouts: CodexRollouts, _ conflict: LoginConflict?
    ) -> SourceFinding {
        let main = report.mainWindows
        var details = main.map { "\($0.kind.name) \($0.percentText) used" }
        if let notice = report.resetNotice { details.append(notice) }
        if details.isEmpty, let conflict {
            details.append("the last reading is \(conflict.reason)")
        }
        if details.isEmpty {
            details.append(
                !report.issues.isEmpty
                    ? "no rate limits in what could be read"
                    : rollouts.newestFirst.isEmpty
                        ? "no sessions" : "no rate limits in the sessions that were read")
        }
        return SourceFinding(
            path: paths.sessions, title: "Codex sessions", certainty: main.isEmpty ? nil : .cachedExact,
            observedAt: main.isEmpty ? nil : report.observedAt, detail: details.joined(separator: "; "))
    }
}
