import Foundation
import SnapshotModels

@testable import UsagePusher

/// Simulates changing files and slow reads and pushes around a plan, in virtual time.
struct PlanSimulation {
    struct Push: Equatable {
        var at: Duration
        var reason: PushPlan.Reason
        var percent: Double
        var succeeded: Bool
    }

    struct CostUpdate: Equatable {
        var began: Duration
        var ended: Duration
    }

    var plan = PushPlan(at: .zero)
    var now = Duration.zero
    /// The percent in the files; nil without a tool.
    var percent: Double? = 0
    var pushes: [Push] = []
    var readCount = 0
    var costUpdates: [CostUpdate] = []
    /// As of the last read.
    private var seen: SyncedUsageSnapshot?
    /// Changes of the files, in order; nil removes the tool.
    var changes: [(at: Duration, percent: Double?)] = []
    /// When somebody asks for new costs, in order.
    var requests: [Duration] = []
    var readTime: () -> Duration = { .zero }
    var pushTime: () -> Duration = { .zero }
    /// Costs are updated beside reads and pushes.
    var costTime: () -> Duration = { .zero }
    var pushSucceeds: (Duration) -> Bool = { _ in true }

    static func snapshot(percent: Double) -> SyncedUsageSnapshot {
        let date = Date(timeIntervalSince1970: 1_789_732_800)
        let provider = ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex",
            primary: SyncRateWindow(usedPercent: percent, windowMinutes: 300), lastUpdated: date)
        return SyncedUsageSnapshot(providers: [provider], syncTimestamp: date, deviceName: "here")
    }

    struct NoProgress: Error {
        var at: Duration
    }

    /// Runs until the plan waits beyond `end`.
    mutating func run(until end: Duration) throws {
        for _ in 0..<200_000 {
            switch plan.next(at: now) {
            case .readAll, .readChanged:
                readCount += 1
                // Changes during a read are not in the reading.
                seen = percent.map(Self.snapshot)
                pass(readTime())
                plan.readEnded(seen, at: now)
            case .updateCosts:
                costUpdates.append(CostUpdate(began: now, ended: now + costTime()))
                endCosts()
            case .push(let snapshot, let reason):
                let started = now
                let succeeded = pushSucceeds(now)
                pass(pushTime())
                plan.pushEnded(succeeded: succeeded, at: now)
                let percent = snapshot.providers[0].primary!.usedPercent
                pushes.append(Push(at: started, reason: reason, percent: percent, succeeded: succeeded))
            case .wait(let until):
                guard until > now else { throw NoProgress(at: now) }
                let ended = costUpdates.last.flatMap { $0.ended > now ? $0.ended : nil }
                let next = min(until, changes.first?.at ?? until, requests.first ?? until, ended ?? until)
                guard next <= end else { return }
                pass(max(next - now, .zero))
            }
        }
        throw NoProgress(at: now)
    }

    private mutating func pass(_ time: Duration) {
        let before = now
        now += time
        if let ended = costUpdates.last?.ended, ended > before { endCosts() }
        while let change = changes.first, change.at <= now {
            changes.removeFirst()
            percent = change.percent
            plan.filesChanged()
        }
        while let request = requests.first, request <= now {
            requests.removeFirst()
            plan.costsAsked()
        }
    }

    private mutating func endCosts() {
        guard let update = costUpdates.last, update.ended <= now else { return }
        plan.costsUpdated(seen, isPartial: false, at: now)
    }
}
