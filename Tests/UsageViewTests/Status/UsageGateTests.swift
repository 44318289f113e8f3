import Commands
import Foundation
import SnapshotModels
import Testing
import UsageState

@testable import usage_view

@Suite("The gate for scripts")
struct UsageGateTests {
    private let usage = InventedUsage()

    private func gate(
        _ data: UsageData, max: Double = 90, providers: [String] = [], window: String? = nil, account: String? = nil
    ) -> UsageGate {
        let selection = UsageSelection(providers: providers, window: window, account: account)
        return UsageGate(usage.model(data), selection: selection, maxPercent: max)
    }

    @Test(
        "more used than the threshold is over it, the threshold itself is safe",
        arguments: [(97, .safe), (96.9, .over), (0, .over), (100, .safe)] as [(Double, UsageGate.Outcome)])
    func thresholds(max: Double, outcome: UsageGate.Outcome) {
        #expect(gate(usage.several, max: max).outcome == outcome)
    }

    @Test("old numbers decide only if they are over the threshold, and limits that were reset never")
    func undecided() {
        let several = gate(usage.several, max: 97)
        #expect(several.outcome == .safe)
        #expect(several.deciding?.usedPercent == 81)
        #expect(gate(usage.several, max: 96).deciding?.usedPercent == 97)
        #expect(gate(usage.several, max: 97, providers: ["gemini"]).reason == "the numbers are old")
        #expect(gate(usage.several, providers: ["cursor"]).reason == "a limit was reset since it was last read")
        #expect(gate(usage.several, providers: ["amp"]).reason == "the limits could not be read")
        #expect(gate(usage.several, providers: ["codex"], window: "Opus").reason == "no window matches")
        #expect(
            gate(usage.several, providers: ["nope"]).reason
                == "no provider 'nope'; known: amp, claude, codex, cursor, gemini, kimi")
        let accounts = Set(usage.model(usage.several).providers.compactMap(\.snapshot.accountEmail)).sorted()
        #expect(
            gate(usage.several, account: "nobody").reason
                == "no account 'nobody'; known: " + accounts.joined(separator: ", "))
        #expect(!accounts.isEmpty)
        #expect(gate(usage.data()).reason == "no machine that pushed has found a tool with limits")
        for providers in [["gemini"], ["cursor"], ["amp"], ["nope"]] {
            #expect(gate(usage.several, max: 97, providers: providers).outcome == .unknown)
        }
    }

    @Test("an estimate counts as what it says")
    func estimate() {
        #expect(gate(usage.several, max: 49, providers: ["kimi"]).outcome == .over)
    }

    @Test("the reason of an unreadable replica is text on a terminal")
    func unreadable() {
        let model = usage.model(UsageData(link: .notJoined, stored: .unreadable(reason: "a\u{1B}[2J")))
        let gate = UsageGate(model, selection: UsageSelection(), maxPercent: 90)
        #expect(UsageView.CheckCommand.text(gate, model: model) == #"unknown: a\u{1B}[2J"#)
    }
}

@Suite("Until when a script waits")
struct UsageWaitTests {
    private let usage = InventedUsage()
    private let codex = UsageSelection(providers: ["codex"])

    private func codex(_ percent: Double, resetsIn minutes: Double?, minutesAgo: Double = 0) -> UsageData {
        usage.data(usage.account("codex", [usage.window(percent, resetsIn: minutes)], minutesAgo: minutesAgo))
    }

    private func reset(_ steps: (UsageData, minutesLater: Double)...) -> UsageWait.Progress? {
        var wait = UsageWait.reset(UsageWait.ResetGoal())
        var progress: UsageWait.Progress?
        for (data, minutes) in steps {
            progress = wait.progress(usage.model(data, minutesLater: minutes), selection: codex)
        }
        return progress
    }

    private func below(_ percent: Double, _ data: UsageData) -> UsageWait.Progress {
        var wait = UsageWait.below(percent: percent)
        return wait.progress(usage.model(data), selection: UsageSelection())
    }

    private func next(_ progress: UsageWait.Progress?) -> Double? {
        guard case .waiting(_, let next?) = progress else { return nil }
        return next.timeIntervalSince(usage.now) / 60
    }

    @Test("a reset is waited for until its time")
    func untilReset() {
        let data = codex(100, resetsIn: 90)
        #expect(next(reset((data, 0))) == 90)
        #expect(next(reset((data, 0), (data, 89))) == 90)
        #expect(reset((data, 0), (data, 90)) == .reached)
    }

    @Test("a limit that was reset before is not waited for")
    func wasReset() {
        #expect(reset((codex(100, resetsIn: -1), 0)) == .reached)
    }

    @Test("a reset that is reported again is the same one unless less is used or its time has come")
    func restated() {
        let data = codex(50, resetsIn: 90)
        #expect(next(reset((data, 0), (codex(51, resetsIn: 90.5), 1))) == 90.5)
        #expect(next(reset((data, 0), (codex(51, resetsIn: 100), 1))) == 100)
        #expect(reset((data, 0), (codex(3, resetsIn: 300), 1)) == .reached)
        #expect(reset((data, 0), (codex(60, resetsIn: 300), 90)) == .reached)
    }

    @Test("of several windows the one with the least left is waited for, however old its number")
    func tightest() {
        let data = usage.data(
            usage.account(
                "codex", [usage.window(99), usage.window(100, minutes: 10_080, resetsIn: 4_000)], minutesAgo: 120))
        #expect(next(reset((data, 0))) == 4_000)
    }

    @Test("without a reset there is nothing to wait for")
    func unknown() {
        #expect(reset((codex(100, resetsIn: nil), 0)) == .unknown("no reset is stated"))
        #expect(reset((usage.data(), 0)) == .unknown("no machine that pushed has found a tool with limits"))
        #expect(below(50, usage.data()) == .unknown("no machine that pushed has found a tool with limits"))
    }

    @Test("below a percentage means all windows, and one that was reset is")
    func untilBelow() {
        #expect(below(41, codex(40, resetsIn: 90)) == .reached)
        #expect(next(below(40, codex(40, resetsIn: 90))) == 90)
        #expect(below(40, codex(99, resetsIn: -1)) == .reached)
        #expect(next(below(40, codex(99, resetsIn: 30, minutesAgo: 120))) == 30)
        #expect(below(40, codex(10, resetsIn: 30, minutesAgo: 120)) == .reached)
        // At the first reset it may be so.
        #expect(next(below(30, usage.several)) == 90)
    }

    @Test(
        "a duration has a unit, or is in seconds",
        arguments: [("90", 90), ("0.5s", 0.5), ("30m", 1_800), ("6h", 21_600), ("2d", 172_800)])
    func durations(text: String, seconds: Double) throws { #expect(try DurationArgument.seconds(text) == seconds) }

    @Test("anything else is no duration", arguments: ["", "m", "-1s", "1w", "nan", "1e9d", "inf"])
    func noDurations(text: String) { #expect(throws: (any Error).self) { try DurationArgument.seconds(text) } }
}
