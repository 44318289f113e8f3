import Essentials
import LocalFiles
import SQLiteReading
import SnapshotModels

/// Reads the limits that Windsurf, now Devin, keeps in its state. It writes them when it starts.
struct WindsurfSource: UsageSource {
    let providerID = "windsurf"
    let providerName = "Windsurf"
    let readInterval = 2.0

    private static let title = "Windsurf plan"

    private var states = EditorStates()

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        SQLiteFiles.watchedPaths(of: paths(in: environment))
    }

    /// By its names before and after it was renamed.
    private func paths(in environment: SourceEnvironment) -> [String] {
        EditorState.paths(of: "Devin", "devin", "Windsurf", "windsurf", in: environment)
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        var evidence = Evidence()
        var newest: (plan: WindsurfPlan, date: Date)?
        // Some of them are one on a disk without regard to case.
        var seen: Set<FileStatus.Identity> = []
        for path in paths(in: environment) {
            if let status = FileStatus.visible(at: path), !seen.insert(status.identity).inserted {
                continue
            }
            do throws(SQLiteError) {
                let known = try states.read(path, keys: WindsurfPlan.keys, prefix: WindsurfPlan.prefix, budget: &budget)
                guard let known else { continue }
                let date = known.date
                reading.isInstalled = true
                var stated = Evidence()
                if let plan = WindsurfPlan(known.state, at: now) {
                    if newest.map({ $0.date < date }) ?? true { newest = (plan, date) }
                    let origin = LimitReading.Origin(path: path)
                    for limit in plan.readings(origin: origin, writtenAt: date) {
                        stated.add(limit.dated(at: now))
                    }
                }
                evidence.merge(stated)
                reading.findings += stated.findings(path: path, title: Self.title, at: now)
            } catch {
                reading.isInstalled = true
                reading.findings.append(error.finding(title: Self.title))
            }
        }
        reading.isPartial = budget.isExceeded
        let card = LimitCard(
            providerID: providerID, providerName: providerName, evidence: evidence, now: now, plan: newest?.plan.name,
            doubt: newest?.plan.isOfUnknownAccount == true
                ? "Of one of several accounts: nothing says which is logged in" : nil,
            issues: reading.issues
        ).snapshot(accountSeenAt: newest?.date).map { AccountCard(snapshot: $0) }
        reading.providers = cards([card].compactMap { $0 }, issues: reading.issues, at: now).map(\.snapshot)
        if environment.explains {
            reading.considered = evidence.considered(account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }
        return reading
    }
}
