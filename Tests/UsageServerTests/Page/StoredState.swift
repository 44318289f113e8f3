import Foundation
import SnapshotModels
import UsageState
import ServerTestSupport
import StoreTestSupport

/// A state of a store at one time, with everything that is known of the devices.
struct StoredState {
    /// 2026-09-18T12:00:00Z, a Friday.
    static let now = Date(timeIntervalSince1970: 1_789_732_800)

    var name: String
    var data: UsageData
    var devices = KnownDevices.known([
        KnownDevice(id: "1", name: "box", isConnected: true, lastSeen: now),
        KnownDevice(id: "2", name: "laptop.example.test", isConnected: false, lastSeen: minutes(-120)),
        KnownDevice(id: "3", name: "phone", isConnected: false, lastSeen: nil),
        KnownDevice(id: "4", name: "Firefox on Linux", isConnected: true, lastSeen: now, mayWrite: false, isPage: true),
    ])

    private static func minutes(_ count: Double) -> Date { now.addingTimeInterval(count * 60) }

    private init(_ name: String, _ snapshots: [SyncedUsageSnapshot], _ history: UsageHistory = .init()) {
        self.name = name
        data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge(snapshots, now: Self.now)), history: history)
    }

    private init(_ name: String, link: UsageData.Link = .online, stored: UsageData.Stored) {
        self.name = name
        data = UsageData(link: link, stored: stored)
        devices = .unreachable
    }

    private init(_ name: String, documents: String...) throws {
        self.init(name, try documents.map { try SnapshotCodec.decode(Repository.data("fixtures/snapshot/\($0).json")) })
    }

    static func all() throws -> [StoredState] {
        try [
            StoredState("several devices, accounts apart", documents: "busy-box", "busy-laptop"),
            StoredState("the first version", documents: "v0-first"),
            StoredState("nulls", documents: "v0-doc-nulls"),
            StoredState("March", documents: "v1-march-2026"),
            StoredState("hostile", documents: "hostile-text"),
            StoredState("kinds", [snapshot("box", kinds)]),
            StoredState("many", many),
            StoredState(
                "a learned pace", [snapshot("box", [codex])],
                .even(codex, until: now, resetsAt: minutes(90), quarters: 1_920)),
            StoredState("nothing", stored: .nothing),
            StoredState("not joined", link: .notJoined, stored: .nothing),
            StoredState("offline", link: .offline(lastSeen: minutes(-120)), stored: .nothing),
            StoredState("always offline", link: .offline(lastSeen: nil), stored: .nothing),
            StoredState("unreadable", stored: .unreadable(reason: "it is not UTF-8 text\u{1B}[2J")),
            StoredState("no providers", [snapshot("box", [])]),
        ]
    }

    private static func snapshot(_ device: String, _ providers: [ProviderUsageSnapshot]) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(
            providers: providers, syncTimestamp: minutes(-2), deviceName: device, deviceID: "id-of-\(device)")
    }

    private static func window(
        _ percent: Double, _ length: Int? = 300, resetsIn left: Double? = 90, label: String? = nil
    ) -> SyncRateWindow {
        SyncRateWindow(usedPercent: percent, windowMinutes: length, resetsAt: left.map(minutes), label: label)
    }

    /// One account for each kind of row, age and status.
    private static var kinds: [ProviderUsageSnapshot] {
        func account(
            _ id: String, _ windows: [SyncRateWindow] = [], minutesAgo: Double = 2,
            change: (inout ProviderUsageSnapshot) -> Void = { _ in }
        ) -> ProviderUsageSnapshot {
            var account = ProviderUsageSnapshot(
                providerID: id, providerName: id.capitalized, lastUpdated: minutes(-minutesAgo), rateWindows: windows)
            change(&account)
            return account
        }
        let percents = [0, 0.4, 9, 42.5, 74.9, 75.1, 91, 99.6, 100, 105, -5, 1e300]
        return [
            account("fresh", [window(40), window(81, 10_080, resetsIn: 4_620)]),
            account("percents", percents.map { window($0, resetsIn: 30, label: "\($0)") }),
            account("cached", [window(22)], minutesAgo: 40),
            account("stale", [window(97)], minutesAgo: 120),
            account("ahead", [window(5)], minutesAgo: -30),
            account("expired", [window(99, resetsIn: -10)]),
            account("endless", [window(50, nil, resetsIn: nil), window(1, 40_000, resetsIn: nil)]),
            account("estimate", [window(50)]) { $0.usageDataConfidence = "estimated" },
            account("error") { $0.isError = true },
            account("reason") { ($0.isError, $0.statusMessage) = (true, "no file\nat all") },
            account("status", [window(3)]) { $0.statusMessage = "one\ntwo\nthree\nfour\nfive" },
            account("bare"),
            account("right to left", [window(3, label: "שבועי")]) {
                ($0.accountEmail, $0.loginMethod) = ("عمر@example.test", "חבילה")
            },
            account("credits") { $0.credits = SyncCredits(balance: 12.5) },
            account("unlimited") { $0.credits = SyncCredits(unlimited: true) },
            account("budget") {
                $0.budget = SyncBudget(
                    usedAmount: 18.2, limitAmount: 20, currencyCode: "EUR", resetsAt: minutes(20_000))
            },
            account("free") { $0.budget = SyncBudget(usedAmount: 4, limitAmount: 0, currencyCode: "<b>") },
            account("cost", [window(60, resetsIn: 200)]) {
                $0.costSummary = SyncCostSummary(
                    sessionCostUSD: 1.42, sessionTokens: 12_340, last30DaysCostUSD: 28.9, last30DaysTokens: 1_245_000,
                    daily: [
                        SyncDailyCost(
                            dayKey: "2026-09-17", costUSD: 3, totalTokens: 20_000,
                            modelBreakdowns: (0..<10).map {
                                SyncCostBreakdown(label: "<model \($0)>", costUSD: Double($0))
                            })
                    ],
                    hourly: [SyncHourlyCost(hour: 497_147, totalTokens: 310_000, costUSD: 1.2)])
            },
        ]
    }

    /// 20 providers as five devices see them.
    private static var many: [SyncedUsageSnapshot] {
        (1...5).map { device in
            snapshot(
                "device \(device)",
                (1...20).map { number in
                    ProviderUsageSnapshot(
                        providerID: "provider\(number)", providerName: "Provider \(number)",
                        accountEmail: number % 3 == 0 ? "dev\(device)@example.test" : nil,
                        lastUpdated: minutes(-Double(device * number)),
                        rateWindows: [
                            window(Double(number * 5), resetsIn: Double(number * 10 - 50)),
                            window(Double(device * 19), 10_080, resetsIn: 3_000),
                        ],
                        costSummary: SyncCostSummary(
                            last30DaysCostUSD: Double(number), last30DaysTokens: device * 1_000))
                })
        }
    }

    private static var codex: ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", accountEmail: "dev@example.test",
            lastUpdated: now, rateWindows: [window(62)])
    }
}
