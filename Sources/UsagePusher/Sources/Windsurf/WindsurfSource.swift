public import Foundation
import LocalFiles
import SnapshotModels

/// Reads the limits that Windsurf, now Devin, keeps in its state. It writes them when it starts.
public struct WindsurfSource: UsageSource {
    public let providerID = "windsurf"
    public let providerName = "Windsurf"
    public let readInterval = 2.0

    private static let title = "Windsurf plan"

    private var states = EditorStates()

    public init() {}

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        SQLiteFiles.watchedPaths(of: paths(in: environment))
    }

    /// By its names before and after it was renamed, some of which are one on a disk without regard to case.
    private func paths(in environment: SourceEnvironment) -> [String] {
        var seen: Set<FileStatus.Identity> = []
        return EditorState.paths(of: "Devin", "devin", "Windsurf", "windsurf", in: environment)
            .filter {
                guard let status = try? FileStatus(path: $0) else { return true }
                return seen.insert(status.identity).inserted
            }
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        var evidence = Evidence()
        var newest: (plan: WindsurfPlan, date: Date)?
        for path in paths(in: environment) {
            do throws(SQLiteError) {
                let known = try states.read(
                    path, keys: WindsurfPlan.keys, prefix: WindsurfPlan.prefix, budget: &budget)
                guard let known else { continue }
                let date = known.date
                reading.isInstalled = true
                var stated = Evidence()
                if let plan = WindsurfPlan(known.state) {
                    if newest.map({ $0.date < date }) ?? true { newest = (plan, date) }
                    let origin = LimitReading.Origin(path: path)
                    for limit in plan.readings(origin: origin, writtenAt: date) {
                        stated.add(limit.dated(at: now))
                    }
                }
                evidence.merge(stated)
                let summary = stated.summary(at: now)
                let absence =
                    stated.readings.isEmpty
                    ? "no limits in a format that this version reads"
                    : "its limits have been reset since it was written"
                reading.findings.append(
                    SourceFinding(
                        path: path, title: Self.title,
                        certainty: summary == nil ? nil : .cachedExact,
                        observedAt: summary?.observedAt, detail: summary?.text ?? absence))
                reading.findings += stated.flawedFindings(title: Self.title)
            } catch {
                reading.isInstalled = true
                reading.findings.append(error.finding(title: Self.title))
            }
        }
        let card = LimitCard(
            providerID: providerID, providerName: providerName, evidence: evidence, now: now,
            plan: newest?.plan.name)
        reading.providers = [card.snapshot(accountSeenAt: newest?.date)].compactMap { $0 }
        if environment.explains {
            reading.considered = evidence.considered(
                account: { _ in nil }, present: nil, shownAs: nil, at: now)
        }
        reading.isPartial = budget.isExceeded
        return reading
    }
}
