import Foundation
import StoreTestSupport
import Testing

@testable import SnapshotModels

@Suite("Merging devices")
struct SnapshotMergeTests {
    let now = GeneratedSnapshots.now

    func at(_ minutesAgo: Double) -> Date { now.addingTimeInterval(-minutesAgo * 60) }

    func device(_ name: String, _ providers: [ProviderUsageSnapshot], minutesAgo: Double = 0) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(
            providers: providers, syncTimestamp: at(minutesAgo), deviceName: name, deviceID: "id-" + name)
    }

    func claude(
        _ used: Double?, minutesAgo: Double, account: String? = nil, resetsIn: Double? = 60,
        cost: SyncCostSummary? = nil, id: String = "claude"
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: "Claude",
            primary: used.map {
                SyncRateWindow(usedPercent: $0, windowMinutes: 300, resetsAt: resetsIn.map { at(-$0) })
            },
            accountEmail: account, lastUpdated: at(minutesAgo), costSummary: cost)
    }

    func merge(_ snapshots: SyncedUsageSnapshot...) -> MergedUsage {
        SnapshotMerge.merge(snapshots, now: now)
    }

    @Test("the newest observation wins and percents are never summed")
    func newestWins() {
        let merged = merge(device("b", [claude(40, minutesAgo: 1)]), device("a", [claude(70, minutesAgo: 9)]))
        #expect(merged.providers.count == 1)
        #expect(merged.providers[0].snapshot.primary?.usedPercent == 40)
        #expect(merged.providers[0].snapshot.lastUpdated == at(1))
        #expect(merged.providers[0].parts.map(\.suppliesWindows) == [false, true])
        #expect(merged.snapshot?.deviceName == "a, b")
        #expect(merged.snapshot?.deviceID == nil)
    }

    @Test("accounts stay separate; an unnamed one joins only a single named one")
    func accounts() {
        let one = merge(
            device("a", [claude(1, minutesAgo: 1, account: "Dev@example.test")]),
            device("b", [claude(2, minutesAgo: 2, account: "dev@EXAMPLE.test ")]),
            device("c", [claude(3, minutesAgo: 0)]))
        #expect(one.providers.map(\.snapshot.primary?.usedPercent) == [3])
        #expect(one.providers[0].snapshot.accountEmail == "Dev@example.test")
        let two = merge(
            device("a", [claude(1, minutesAgo: 1, account: "x@example.test")]),
            device("b", [claude(2, minutesAgo: 2, account: "w@example.test")]),
            device("c", [claude(3, minutesAgo: 0)]))
        #expect(two.providers.map(\.snapshot.primary?.usedPercent) == [2, 1, 3])
        let unnamed = merge(device("a", [claude(1, minutesAgo: 1)]), device("b", [claude(2, minutesAgo: 2)]))
        #expect(unnamed.providers.map(\.snapshot.primary?.usedPercent) == [1])
    }

    /// Machines read limits of one account with tools that state more or less, at times of their own.
    @Test(
        "each limit is told as its newest reading has it, with its age, until its reset",
        arguments: 0..<40 as Range<UInt64>)
    func newestOfEach(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names: [String?] = [nil, "Opus", "Sonnet"]
        var newest: [String?: SyncRateWindow] = [:]
        let devices = (0..<4).map { number in
            let age = Double.random(in: 0...3_000, using: &random).rounded()
            var windows: [SyncRateWindow] = []
            for name in names where Bool.random(using: &random) {
                let older = Bool.random(using: &random) ? Double.random(in: 1...600, using: &random).rounded() : nil
                let reset = Double.random(in: -500...5_000, using: &random).rounded()
                windows.append(
                    SyncRateWindow(
                        usedPercent: Double(number) + age, windowMinutes: name == nil ? 299 + number : 10_080,
                        resetsAt: at(-reset), label: name, observedAt: older.map { at(age + $0) }))
            }
            var provider = claude(nil, minutesAgo: age)
            provider.rateWindows = windows
            for window in windows {
                guard let reset = window.resetsAt, reset > now else { continue }
                let observed = provider.observedAt(window)
                if newest[window.label]?.observedAt.map({ $0 < observed }) ?? true {
                    newest[window.label] = window
                    newest[window.label]?.observedAt = observed
                }
            }
            return device("\(number)", [provider])
        }
        let card = try #require(SnapshotMerge.merge(devices, now: now).providers.first).snapshot
        let live = card.windows.filter { $0.resetsAt.map { $0 > now } ?? false }
        #expect(live.count == newest.count)
        for window in live {
            let expected = try #require(newest[window.label])
            #expect(window.usedPercent == expected.usedPercent && card.observedAt(window) == expected.observedAt)
        }
    }

    @Test("a reading from the future ranks below all others")
    func futureClock() {
        let future = device("f", [claude(9, minutesAgo: -50_000)])
        #expect(
            merge(future, device("a", [claude(5, minutesAgo: 600)])).providers[0].snapshot.primary?.usedPercent == 5)
        #expect(merge(future).providers[0].snapshot.primary?.usedPercent == 9)
        let slightlyAhead = device("s", [claude(7, minutesAgo: -0.5)])
        #expect(
            merge(slightlyAhead, device("a", [claude(5, minutesAgo: 1)]))
                .providers[0].snapshot.primary?.usedPercent == 7)
    }

    @Test("a newer reading without windows adds its error to the older valid numbers")
    func emptyDoesNotBlank() {
        var failing = claude(nil, minutesAgo: 0)
        failing.isError = true
        failing.statusMessage = "unreadable"
        let merged = merge(device("a", [failing]), device("b", [claude(30, minutesAgo: 20)]))
        #expect(merged.providers[0].snapshot.primary?.usedPercent == 30)
        #expect(merged.providers[0].snapshot.lastUpdated == at(20))
        #expect(merged.providers[0].snapshot.statusMessage == "unreadable")
        let past = claude(30, minutesAgo: 20, resetsIn: -5)
        let blank = merge(device("a", [failing]), device("b", [past]))
        #expect(blank.providers[0].snapshot.primary == nil)
    }

    @Test("costs are summed for local logs, else the newest counts")
    func costs() {
        let first = SyncCostSummary(
            sessionCostUSD: 1, sessionTokens: .max,
            daily: [SyncDailyCost(dayKey: "d2", costUSD: 1, modelBreakdowns: [.init(label: "m", costUSD: 1)])])
        let second = SyncCostSummary(
            sessionCostUSD: 2, sessionTokens: 5, last30DaysTokens: 7,
            daily: [
                SyncDailyCost(dayKey: "d2", costUSD: 3, modelBreakdowns: [.init(label: "m", costUSD: 4)]),
                SyncDailyCost(dayKey: "d1"),
            ])
        let both = merge(
            device("a", [claude(1, minutesAgo: 1, cost: first)]),
            device("b", [claude(1, minutesAgo: 2, cost: second)]),
            device("old", [claude(1, minutesAgo: 9, cost: second)], minutesAgo: 31 * 1_440))
        #expect(
            both.providers[0].snapshot.costSummary
                == SyncCostSummary(
                    sessionCostUSD: 3, sessionTokens: .max, last30DaysTokens: 7,
                    daily: [
                        SyncDailyCost(dayKey: "d1"),
                        SyncDailyCost(dayKey: "d2", costUSD: 4, modelBreakdowns: [.init(label: "m", costUSD: 5)]),
                    ]))
        #expect(both.providers[0].parts.map(\.costSummary?.sessionCostUSD) == [1, 2, 2])
        let account = merge(
            device("a", [claude(1, minutesAgo: 3, cost: first, id: "gemini")]),
            device("b", [claude(1, minutesAgo: 2, cost: second, id: "gemini")]))
        #expect(account.providers[0].snapshot.costSummary == second)
    }

    @Test("of one device only the newest snapshot counts")
    func oneDevice() {
        let merged = merge(
            device("a", [claude(1, minutesAgo: 1)], minutesAgo: 1),
            device("a", [claude(2, minutesAgo: 9)], minutesAgo: 0))
        #expect(merged.devices.count == 1)
        #expect(merged.providers[0].snapshot.primary?.usedPercent == 2)
        #expect(merged.snapshot?.deviceID == "id-a")
    }

    @Test("a shared value that is a merged view of known devices is left out")
    func sharedKey() {
        let own = [device("a", []), device("b, c", [])]
        var shared = device("a, gone", [])
        shared.deviceID = nil
        #expect(SnapshotMerge.devices(own: own, shared: shared) == own)
        shared.deviceName = "b, c"
        #expect(SnapshotMerge.devices(own: own, shared: shared) == own)
        shared.deviceName = "Mac"
        #expect(SnapshotMerge.devices(own: own, shared: shared) == own + [shared])
        shared.deviceID = "id-a"
        #expect(SnapshotMerge.devices(own: own, shared: shared) == own)
        #expect(SnapshotMerge.devices(own: [], shared: shared) == [shared])
        #expect(merge().snapshot == nil)
    }

    @Test("merging is commutative, associative and idempotent", arguments: [21, 22, 23, 24] as [UInt64])
    func laws(seed: UInt64) throws {
        var generated = GeneratedSnapshots(seed: seed)
        for round in 1...40 {
            let snapshots = (0..<generated.int(1...6)).map { _ in
                generated.snapshot().normalized()
            }
            let merged = SnapshotMerge.merge(snapshots, now: now)
            let shuffled = snapshots.shuffled(using: &generated.generator)
            let repeated = shuffled + snapshots.prefix(2)
            try #require(SnapshotMerge.merge(shuffled, now: now) == merged, "seed \(seed) round \(round)")
            try #require(SnapshotMerge.merge(repeated, now: now) == merged, "seed \(seed) round \(round)")

            // A device's newest snapshot supersedes the older ones in any grouping.
            let later = try #require(snapshots.max { $0.syncTimestamp < $1.syncTimestamp })
            let withoutOlder = snapshots.filter {
                $0 == later || $0.deviceID != later.deviceID || $0.deviceName != later.deviceName
            }
            let sameTime = snapshots.filter { $0.syncTimestamp == later.syncTimestamp }
            if sameTime.count == 1 {
                try #require(SnapshotMerge.merge(withoutOlder, now: now) == merged, "seed \(seed) round \(round)")
            }
        }
    }

    @Test("nothing is invented: every window and plan comes from a device", arguments: [31, 32])
    func nothingInvented(seed: UInt64) throws {
        var generated = GeneratedSnapshots(seed: seed)
        for round in 1...40 {
            let snapshots = (0..<generated.int(1...5)).map { _ in
                generated.snapshot().normalized()
            }
            let all = snapshots.flatMap(\.providers)
            for provider in SnapshotMerge.merge(snapshots, now: now).providers {
                let same = all.filter { $0.providerID == provider.snapshot.providerID }
                try #require(same.contains { $0.lastUpdated == provider.snapshot.lastUpdated })
                for window in provider.snapshot.windows {
                    let observed = provider.snapshot.observedAt(window)
                    try #require(
                        same.contains { reading in
                            reading.windows.contains {
                                var told = $0
                                told.observedAt = window.observedAt
                                return told == window
                                    && min(reading.observedAt($0), provider.snapshot.lastUpdated) == observed
                            }
                        }, "seed \(seed) round \(round)")
                }
                try #require(provider.parts.filter(\.suppliesWindows).count == 1)
            }
        }
    }
}
