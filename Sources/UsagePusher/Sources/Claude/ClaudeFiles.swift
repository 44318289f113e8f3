import Essentials
import LocalFiles

/// Reads Claude Code's documents of one home and records a finding for each.
struct ClaudeFiles {
    private(set) var findings: [SourceFinding] = []
    /// Whether there is a file or directory that only Claude Code, or our capture of it, creates.
    private(set) var isInstalled = false
    /// When the file that names the account was last written.
    private(set) var accountSeenAt: Date?
    private let now: Date

    init(now: Date) {
        self.now = now
    }

    /// The state of the first group that has one. Within a group the most recently fetched cache
    /// wins, then the first account: small files with neither lie around.
    mutating func state(_ paths: ClaudePaths, known: inout ClaudeStateFiles, budget: inout ScanBudget) -> ClaudeState? {
        let title = "Claude state"
        var emptyPath: String?
        for group in paths.stateGroups {
            var best: (file: ClaudeStateFiles.File, path: String)?
            for path in group {
                let file: ClaudeStateFiles.File?
                do throws(FileError) {
                    file = try known.read(path, budget: &budget)
                } catch {
                    add([error], title: title)
                    continue
                }
                guard let file else { continue }
                isInstalled = true
                if let state = file.state {
                    if state.isEmpty {
                        emptyPath = emptyPath ?? path
                    } else if Self.isBetter(state, than: best?.file.state) {
                        best = (file, path)
                    }
                } else {
                    add(path, title, "is not a JSON object", isError: true)
                }
            }
            if let best, var state = best.file.state {
                accountSeenAt = best.file.status.modificationDate
                if let account = state.account, account.email == nil {
                    state.account?.email = address(of: account, paths, &known, &budget)
                }
                add(state, path: best.path)
                return state
            }
        }
        if let emptyPath { add(emptyPath, title, "no account and no cached limits") }
        return nil
    }

    /// As any state file names the user of an account.
    private func address(
        of account: ClaudeState.Account, _ paths: ClaudePaths, _ known: inout ClaudeStateFiles,
        _ budget: inout ScanBudget
    ) -> String? {
        guard let user = account.userID else { return nil }
        for path in paths.stateGroups.joined() {
            // What keeps a file from being read is a finding where it is read for its limits.
            let other = (try? known.read(path, budget: &budget))?.state?.account
            if let other, other.userID == user, let address = other.email { return address }
        }
        return nil
    }

    mutating func credentials(_ paths: ClaudePaths, budget: inout ScanBudget) -> ClaudePlan.Credentials? {
        let title = "Claude login"
        for path in paths.credentials {
            guard let document = document(path, title: title, budget: &budget) else { continue }
            guard let login = document.fields.flatMap(ClaudePlan.Credentials.init) else {
                add(path, title, "no Claude account")
                continue
            }
            accountSeenAt = accountSeenAt ?? document.modificationDate
            add(path, title, "a Claude account")
            return login
        }
        return nil
    }

    mutating func captures(in directory: String, budget: inout ScanBudget) -> Evidence {
        let title = "Claude status line capture"
        let walk = ClaudeStatuslineStore.files(in: directory, budget: &budget)
        var evidence = Evidence()
        for file in walk.newestFirst.prefix(ClaudeStatuslineStore.captureLimit) {
            guard let document = document(file.path, followsLinks: false, title: title, budget: &budget)
            else { continue }
            guard let capture = document.fields.flatMap({ ClaudeStatuslineCapture($0) }) else {
                add(file.path, title, "is not a capture in a format that this version reads", isError: true)
                continue
            }
            for reading in capture.readings(path: file.path) {
                evidence.add(reading.dated(at: now))
            }
        }
        add(walk.errors, title: title)
        if !walk.files.isEmpty { isInstalled = true }
        let hasErrors = findings.contains { $0.isError && $0.title == title }
        let absence =
            hasErrors || budget.isExceeded
            ? "no limits in what could be read"
            : walk.files.isEmpty
                ? "none; the only exact source, to be set up once (usage-push setup)"
                : "its limits have been reset"
        add(directory, title, evidence, certainty: .exact, absence: absence)
        findings += evidence.flawedFindings(title: title)
        return evidence
    }

    /// - Parameter isComplete: whether all transcripts were read.
    mutating func add(transcripts: Evidence, _ paths: ClaudePaths, _ walk: DirectoryWalk, isComplete: Bool) {
        guard let root = walk.rootsFound.min() else { return }
        isInstalled = true
        add(
            paths.projects[root], "Claude transcripts", transcripts, certainty: .exact,
            absence: isComplete
                ? "no rejection still in effect; token counts yield no percentage"
                : "no rejection still in effect in what could be read")
    }

    mutating func add(_ errors: [FileError], title: String) {
        if errors.contains(where: \.showsPresence) { isInstalled = true }
        findings += errors.map { $0.finding(title: title) }
    }

    private mutating func document(
        _ path: String, followsLinks: Bool = true, title: String, budget: inout ScanBudget
    ) -> ScanBudget.Document? {
        do throws(FileError) {
            let document = try budget.readDocument(path, followsLinks: followsLinks)
            if document != nil { isInstalled = true }
            return document
        } catch {
            add([error], title: title)
            return nil
        }
    }

    private static func isBetter(_ state: ClaudeState, than best: ClaudeState?) -> Bool {
        guard let best else { return true }
        guard let fetched = state.cache?.fetchedAt else { return false }
        return best.cache.map { $0.fetchedAt < fetched } ?? true
    }

    private mutating func add(_ state: ClaudeState, path: String) {
        let title = "Claude cached limits"
        if state.isCacheOfAnotherAccount {
            add(path, title, "they belong to another account than the one logged in")
        } else if let cache = state.cache {
            add(
                path, title, cache.evidence, certainty: .cachedExact,
                absence: "its limits have been reset since they were fetched")
            findings += cache.evidence.flawedFindings(title: title)
        } else {
            add(path, title, "an account, but no cached limits")
        }
    }

    private mutating func add(
        _ path: String, _ title: String, _ evidence: Evidence, certainty: SourceCertainty, absence: String
    ) {
        let summary = evidence.summary(at: now)
        findings.append(
            SourceFinding(
                path: path, title: title, certainty: summary == nil ? nil : certainty,
                observedAt: summary?.observedAt, detail: summary?.text ?? absence))
    }

    private mutating func add(_ path: String, _ title: String, _ detail: String, isError: Bool = false) {
        findings.append(SourceFinding(path: path, title: title, detail: detail, isError: isError))
    }
}

/// The state files that earlier passes have read: they can be hundreds of megabytes.
struct ClaudeStateFiles: Sendable {
    struct File: Sendable {
        var status: FileStatus
        /// Nil when the file is not a JSON object.
        var state: ClaudeState?
    }

    private var files: [String: File] = [:]

    /// Nil when there is no file.
    mutating func read(_ path: String, budget: inout ScanBudget) throws(FileError) -> File? {
        let status = FileStatus.visible(at: path)
        if let known = files[path], known.status == status { return known }
        files[path] = nil
        guard let document = try budget.readMembers(ClaudeState.members, of: path) else { return nil }
        let file = File(status: document.status, state: document.fields.map { ClaudeState($0, path: path) })
        files[path] = file
        return file
    }
}
