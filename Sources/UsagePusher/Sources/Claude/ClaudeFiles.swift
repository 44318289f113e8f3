import Foundation
import LocalFiles

/// Reads Claude Code's documents and records a finding for each.
struct ClaudeFiles {
    private(set) var findings: [SourceFinding] = []
    private(set) var errors: [FileError] = []
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
    mutating func state(_ paths: ClaudePaths, budget: inout ScanBudget) -> ClaudeState? {
        let title = "Claude state"
        var emptyPath: String?
        for group in paths.stateGroups {
            var best: (state: ClaudeState, path: String, seenAt: Date)?
            for path in group {
                guard let document = document(path, title: title, budget: &budget) else { continue }
                guard let fields = document.fields else {
                    add(path, title, "not a JSON object")
                    continue
                }
                let state = ClaudeState(fields)
                if state.isEmpty {
                    emptyPath = emptyPath ?? path
                } else if Self.isBetter(state, than: best?.state) {
                    best = (state, path, document.modificationDate)
                }
            }
            if let best {
                accountSeenAt = best.seenAt
                add(best.state, path: best.path)
                return best.state
            }
        }
        if let emptyPath { add(emptyPath, title, "no account and no cached limits") }
        return nil
    }

    mutating func credentials(
        _ paths: ClaudePaths, budget: inout ScanBudget
    ) -> ClaudePlan.Credentials? {
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

    mutating func captures(_ paths: ClaudePaths, budget: inout ScanBudget) -> ClaudeReadings {
        let title = "Claude status line capture"
        let walk = ClaudeStatuslineStore.files(in: paths.captures, budget: &budget)
        var readings = ClaudeReadings()
        for file in walk.newestFirst.prefix(ClaudeStatuslineStore.captureLimit) {
            guard
                let document = document(
                    file.path, followsLinks: false, title: title, budget: &budget)
            else { continue }
            guard let capture = document.fields.flatMap({ ClaudeStatuslineCapture($0) }) else {
                add(file.path, title, "not a capture in a format that this version reads")
                continue
            }
            for (name, reading) in capture.windows {
                guard let window = ClaudeWindow(name: name) else { continue }
                readings.add(reading.observed(notAfter: now), to: window)
            }
        }
        add(walk.errors, title: title)
        if !walk.files.isEmpty { isInstalled = true }
        let absence =
            walk.files.isEmpty
            ? "none; the only exact source, to be set up once (usage-push claude-statusline --help)"
            : "its limits have been reset"
        add(paths.captures, title, readings, certainty: .exact, absence: absence)
        return readings
    }

    mutating func add(transcripts: ClaudeReadings, _ paths: ClaudePaths, _ walk: DirectoryWalk) {
        guard let root = walk.rootsFound.min() else { return }
        isInstalled = true
        add(
            paths.projects[root], "Claude transcripts", transcripts, certainty: .exact,
            absence: "no rejection still in effect; token counts yield no percentage")
    }

    mutating func add(_ errors: [FileError], title: String) {
        self.errors += errors
        // Behind a directory that we may not search there may be nothing.
        if errors.contains(where: {
            !$0.isPermissionDenied || (try? FileStatus(path: $0.path)) != nil
        }) {
            isInstalled = true
        }
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
                path, title, cache.readings, certainty: .cachedExact,
                absence: "its limits have been reset since they were fetched")
        } else {
            add(path, title, "an account, but no cached limits")
        }
    }

    private mutating func add(
        _ path: String, _ title: String, _ readings: ClaudeReadings, certainty: SourceCertainty,
        absence: String
    ) {
        let summary = readings.summary(at: now)
        findings.append(
            SourceFinding(
                path: path, title: title, certainty: summary == nil ? nil : certainty,
                observedAt: summary?.observedAt, detail: summary?.text ?? absence))
    }

    private mutating func add(_ path: String, _ title: String, _ detail: String) {
        findings.append(SourceFinding(path: path, title: title, detail: detail))
    }
}
