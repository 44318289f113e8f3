import Foundation
import StoreTestSupport
import SnapshotModels

/// Random snapshots with all fields, edge cases included.
struct GeneratedSnapshots {
    static let now = Date(timeIntervalSince1970: 1_789_732_800)

    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func snapshot() -> SyncedUsageSnapshot {
        let device = int(0...4)
        return SyncedUsageSnapshot(
            providers: list(0...5) { $0.provider() },
            syncTimestamp: date(),
            deviceName: ["box", "laptop", "Zoë's Mac", "a, b", ""][device],
            deviceID: chance(2) ? "00000000-0000-4000-8000-00000000000\(device)" : nil,
            appVersion: maybe { _ in "1.2.3" },
            mobileVersion: maybe { $0.text() })
    }

    mutating func provider() -> ProviderUsageSnapshot {
        let id = ["claude", "codex", "gemini", "vertexai"].randomElement(using: &generator)!
        return ProviderUsageSnapshot(
            providerID: id, providerName: id.capitalized,
            primary: maybe { $0.window() }, secondary: maybe { $0.window() },
            accountEmail: maybe {
                ["a@example.test", "A@Example.test", "b@example.test", " "].randomElement(using: &$0.generator)!
            },
            loginMethod: maybe { $0.text() }, statusMessage: maybe { $0.text() },
            isError: chance(4), lastUpdated: date(),
            rateWindows: maybe { $0.list(0...4) { $0.window() } },
            costSummary: maybe { $0.costs() },
            budget: maybe {
                SyncBudget(
                    usedAmount: $0.amount(), limitAmount: $0.amount(), currencyCode: "USD",
                    period: $0.maybe { _ in "monthly" }, resetsAt: $0.maybe { $0.date() })
            },
            credits: maybe { generated in
                SyncCredits(balance: generated.maybe { $0.amount() }, unlimited: generated.chance(2))
            },
            usageDataConfidence: maybe { $0.text() })
    }

    mutating func window() -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: [0, -5, 0.4, 42.5, 99.6, 105, 1e300, .nan, .infinity].randomElement(using: &generator)!,
            windowMinutes: maybe { $0.int(-1...50_000) },
            resetsAt: maybe { $0.date() },
            resetDescription: maybe { $0.text() }, label: maybe { $0.text() }, observedAt: maybe { $0.date() })
    }

    mutating func costs() -> SyncCostSummary {
        SyncCostSummary(
            sessionCostUSD: maybe { $0.amount() }, sessionTokens: maybe { $0.int(0...9_999) },
            last30DaysCostUSD: maybe { $0.amount() },
            last30DaysTokens: maybe { $0.chance(5) ? Int.max : $0.int(0...999_999) },
            daily: maybe {
                $0.list(0...3) {
                    SyncDailyCost(
                        dayKey: "2026-09-0\($0.int(1...3))", costUSD: $0.maybe { $0.amount() },
                        totalTokens: $0.maybe { $0.int(0...99) },
                        modelBreakdowns: $0.maybe {
                            $0.list(0...2) {
                                SyncCostBreakdown(label: $0.text(), costUSD: $0.amount())
                            }
                        })
                }
            })
    }

    /// Quarters, so that sums are exact in any order.
    mutating func amount() -> Double { chance(12) ? .nan : Double(int(0...4_000)) / 4 }

    mutating func date() -> Date {
        if chance(20) { return Date(timeIntervalSince1970: .infinity) }
        let seconds = Double(int(-40 * 86_400...2 * 86_400)) + Double(int(0...9)) / 10
        return Self.now.addingTimeInterval(seconds)
    }

    mutating func text() -> String {
        ["", "Max 5x", "Zoë", "a\u{202E}b", "tab\there \"quoted\" /\\", "🧪", "\u{0}"].randomElement(using: &generator)!
    }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// True with probability 1/`count`.
    mutating func chance(_ count: Int) -> Bool { int(1...count) == 1 }

    mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        chance(3) ? nil : make(&self)
    }

    mutating func list<Value>(_ counts: ClosedRange<Int>, _ make: (inout Self) -> Value) -> [Value] {
        (0..<int(counts)).map { _ in make(&self) }
    }
}
