import Essentials
import SQLiteReading
import SnapshotModels

/// Estimates how much of OpenCode Go's limits is used, from what OpenCode's databases say that each request has cost.
///
/// Requests from other machines are not there: the provider's own numbers may be higher.
struct OpenCodeGoSource: UsageSource {
    let providerID = "opencodego"
    let providerName = "OpenCode Go"
    let variables = ["OPENCODE_DB"]
    let readInterval = 2.0

    private static let title = "OpenCode Go requests"

    private var state = OpenCodeGoState()
    /// Databases that have been read to their end.
    private var completed: Set<String> = []

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        OpenCodeTokens().watchedDatabases(in: environment)
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        let paths = OpenCodeTokens().databases(in: environment)
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        var errors: [SourceFinding] = []
        for path in paths {
            do throws(SQLiteError) {
                if try update(path, budget: &budget, at: now) {
                    completed.insert(path)
                } else {
                    reading.isPartial = true
                }
            } catch {
                completed.insert(path)
                errors.append(error.finding(title: Self.title))
            }
        }
        reading.findings = errors
        guard state.costs.isUsed else { return reading }
        reading.isInstalled = true
        // For a part of the requests it would be too little.
        guard completed.isSuperset(of: paths), let path = paths.first else {
            reading.providers = cards([], issues: reading.issues, at: now).map(\.snapshot)
            return reading
        }
        var evidence = Evidence()
        for (limit, window) in state.costs.windows(at: now) {
            evidence.add(
                LimitReading(limit: limit, windows: [window], observedAt: now, origin: LimitReading.Origin(path: path)))
        }
        let card = LimitCard(
            providerID: providerID, providerName: providerName, evidence: evidence, now: now,
            isEstimated: true, issues: reading.issues)
        reading.providers = [card.snapshot()].compactMap { $0 }
        if let summary = evidence.summary(at: now) {
            reading.findings.append(
                SourceFinding(
                    path: path, title: Self.title, certainty: .estimated, observedAt: now,
                    detail: summary.text + ", by the costs of this machine's requests"))
        }
        if environment.explains {
            reading.considered = evidence.considered(account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }
        return reading
    }

    /// Reads what is new in a database. Returns false when there is more, or it is in use.
    private mutating func update(_ path: String, budget: inout ScanBudget, at now: Date) throws(SQLiteError) -> Bool {
        let hasAllMessages = try SQLiteDatabase.readSteps(
            path, budget: &budget, valueByteLimit: OpenCodeDatabase.messageByteLimit, from: &state
        ) { state, connection throws(SQLiteError) in
            ((), try state.readMessages(of: path, connection))
        }
        guard hasAllMessages else { return false }
        return try SQLiteDatabase.readSteps(
            path, budget: &budget, valueByteLimit: OpenCodeDatabase.partByteLimit, from: &state
        ) { state, connection throws(SQLiteError) in
            ((), try state.readSteps(of: path, connection, at: now))
        }
    }
}
