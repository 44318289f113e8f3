import Foundation

/// Reads Claude Code's documents and notes what each told.
struct ClaudeFiles {
    private(set) var findings: [SourceFinding] = []
    private(set) var troubles: [FolderWalk.Trouble] = []
    /// True when a file or folder that only Claude Code, or our capture of it, makes was there.
    private(set) var foundSomething = false
    /// When the file that names the account was last written.
    private(set) var accountSeenAt: Date?
    private let now: Date

    init(now: Date) {
        self.now = now
    }

    /// The state file that holds something. Of several in a group the most recently fetched cache
    /// counts, then the first with an account: small files with neither lie around.
    mutating func state(_ folders: ClaudeFolders, budget: inout ScanBudget) -> ClaudeState? {
        var emptyPath: String?
        for group in folders.stateGroups {
            var best: (state: ClaudeState, path: String, seenAt: Date)?
            for path in group {
                guard let document = document(path, title: "Claude state", budget: &budget) else {
                    continue
                }
                guard let fields = document.fields else {
                    add(path, "Claude state", "it is not a JSON object")
                    continue
                }
                let state = ClaudeState(fields)
                if state.isEmpty {
                    emptyPath = emptyPath ?? path
                } else if Self.isBetter(state, than: best?.state) {
                    best = (state, path, document.facts.modifiedAt)
                }
            }
            if let best {
                accountSeenAt = best.seenAt
                note(best.state, path: best.path)
                return best.state
            }
        }
        if let emptyPath { add(emptyPath, "Claude state", "no account and no cached limits in it") }
        return nil
    }

    mutating func credentials(
        _ folders: ClaudeFolders, budget: inout ScanBudget
    ) -> ClaudePlan.Credentials? {
        for path in folders.credentials {
            guard let document = document(path, title: "Claude login", budget: &budget) else {
                continue
            }
            guard let login = document.fields.flatMap(ClaudePlan.Credentials.init) else {
                add(path, "Claude login", "no Claude account in it")
                continue
            }
            accountSeenAt = accountSeenAt ?? document.facts.modifiedAt
            add(path, "Claude login", "a Claude account")
            return login
        }
        return nil
    }

    mutating func captures(_ folders: ClaudeFolders, budget: inout ScanBudget) -> ClaudeReadings {
        let title = "Claude status line capture"
        let walk = ClaudeStatuslineStore.files(in: folders.captures, budget: &budget)
        var readings = ClaudeReadings()
        for file in walk.newestFirst.prefix(ClaudeStatuslineStore.captureLimit) {
            do throws(FileTrouble) {
                let document = try DocumentReader.read(
                    file.path, followsLink: false, budget: &budget)
                guard let capture = document.fields.flatMap({ ClaudeStatuslineCapture($0) }) else {
                    add(file.path, title, "it is no capture that this version knows")
                    continue
                }
                for (name, reading) in capture.windows {
                    guard let window = ClaudeWindow(name: name) else { continue }
                    readings.add(reading.observed(notAfter: now), to: window)
                }
            } catch {
                if error != .missing {
                    note([FolderWalk.Trouble(path: file.path, trouble: error)], title: title)
                }
            }
        }
        note(walk.troubles, title: title)
        if !walk.files.isEmpty { foundSomething = true }
        let absence =
            walk.files.isEmpty
            ? "none; it is the only exact source, and has to be set up once"
            : "the limits in it have been reset"
        add(folders.captures, title, readings, certainty: .exact, absence: absence)
        return readings
    }

    mutating func note(transcripts: ClaudeReadings, _ folders: ClaudeFolders, _ walk: FolderWalk) {
        guard let root = walk.rootsFound.min() else { return }
        foundSomething = true
        add(
            folders.projects[root], "Claude transcripts", transcripts, certainty: .exact,
            absence: "no refusal that still counts; tokens in them give no percent")
    }

    mutating func note(_ troubles: [FolderWalk.Trouble], title: String) {
        self.troubles += troubles
        // What lies behind a folder that is closed to us may not be there at all.
        if troubles.contains(where: {
            $0.trouble != .denied || (try? FileFacts(path: $0.path)) != nil
        }) {
            foundSomething = true
        }
        findings += troubles.map { $0.finding(title: title) }
    }

    private mutating func document(
        _ path: String, title: String, budget: inout ScanBudget
    ) -> DocumentReader.Document? {
        do throws(FileTrouble) {
            let document = try DocumentReader.read(path, budget: &budget)
            foundSomething = true
            return document
        } catch {
            if error != .missing {
                note([FolderWalk.Trouble(path: path, trouble: error)], title: title)
            }
            return nil
        }
    }

    private static func isBetter(_ state: ClaudeState, than best: ClaudeState?) -> Bool {
        guard let best else { return true }
        guard let fetched = state.cache?.fetchedAt else { return false }
        return best.cache.map { $0.fetchedAt < fetched } ?? true
    }

    private mutating func note(_ state: ClaudeState, path: String) {
        let title = "Claude cached limits"
        guard let cache = state.cache else {
            add(path, title, "an account and no cached limits")
            return
        }
        guard !state.isCacheOfAnotherAccount else {
            add(path, title, "they belong to another account than the one logged in")
            return
        }
        add(
            path, title, cache.readings, certainty: .cachedExact,
            absence: "the limits in it have been reset since they were fetched")
    }

    private mutating func add(
        _ path: String, _ title: String, _ readings: ClaudeReadings, certainty: SourceCertainty,
        absence: String
    ) {
        guard let summary = readings.summary(at: now) else {
            add(path, title, absence)
            return
        }
        findings.append(
            SourceFinding(
                path: path, title: title, certainty: certainty, observedAt: summary.observedAt,
                detail: summary.words))
    }

    private mutating func add(_ path: String, _ title: String, _ detail: String) {
        findings.append(SourceFinding(path: path, title: title, detail: detail))
    }
}
