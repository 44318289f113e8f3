import Foundation
import SnapshotModels
import Testing
import UsageState

@Suite("What the gate decides")
struct GateDecisionTests {
    private static let usage = InventedUsage()
    private static var now: Date { usage.now }

    private static func gate(_ providers: ProviderUsageSnapshot...) -> GateUsage {
        let merged = SnapshotMerge.merge([usage.snapshot(providers)], now: now)
        return GateUsage(UsageData(link: .online, stored: .usage(merged)), now: now)
    }

    private static func claude(
        _ used: Double, label: String? = nil, account: String? = nil, minutesAgo: Double = 0, resetsIn: Double? = 600,
        confidence: String? = nil
    ) -> ProviderUsageSnapshot {
        usage.account(
            "claude", [usage.window(used, minutes: 10_080, resetsIn: resetsIn, label: label)], account: account,
            minutesAgo: minutesAgo, confidence: confidence)
    }

    private static let stopAt95 = GateRule(.used(percent: 95), then: .stop)

    private static func decision(
        _ gate: GateUsage, _ rules: [GateRule] = [stopAt95], model: String? = nil, directory: String? = nil,
        minutesLater: Double = 0
    ) -> GateDecision {
        let time = now.addingTimeInterval(minutesLater * 60)
        return GateDecision(
            gate, own: GateRules(rules),
            GateRequest(provider: "claude", model: model, directory: directory, madeAt: time), now: time)
    }

    @Test("a fresh reading at the threshold stops, and one below it does not")
    func threshold() {
        #expect(Self.decision(Self.gate(Self.claude(95))).action == .stop)
        #expect(Self.decision(Self.gate(Self.claude(94.9))).reason == .below)
    }

    @Test("what is not known allows, and says why")
    func unknown() {
        #expect(Self.decision(Self.gate()).reason == .absent)
        #expect(Self.decision(Self.gate(Self.claude(99, minutesAgo: 61))).reason == .stale)
        #expect(Self.decision(Self.gate(Self.claude(99, confidence: "estimated"))).reason == .estimate)
        #expect(Self.decision(Self.gate(Self.claude(99, resetsIn: -1))).reason == .expired)
        #expect(Self.decision(Self.gate(Self.claude(99, resetsIn: 20_000))).reason == .contradicted)
        #expect(Self.decision(Self.gate(Self.claude(99)), []).reason == .noRule)
        #expect(Self.decision(GateUsage(reading: Data("{".utf8))).reason == .damaged)
        #expect(Self.decision(GateUsage(reading: nil)).reason == .damaged)
    }

    @Test("a clock that is a day wrong, in either direction, stops nothing", arguments: [-1_440, 1_440] as [Double])
    func clock(minutes: Double) {
        let decision = Self.decision(Self.gate(Self.claude(99, resetsIn: 3_000)), minutesLater: minutes)
        #expect(decision.action == nil)
        #expect(decision.reason == (minutes < 0 ? .clockAhead : .stale))
    }

    @Test("the stricter of two rules that apply wins, whatever their order")
    func stricter() {
        let rules = [
            Self.stopAt95, GateRule(.used(percent: 50), then: .tell), GateRule(.used(percent: 60), then: .pause),
        ]
        for order in [rules, rules.reversed()] {
            #expect(Self.decision(Self.gate(Self.claude(96)), order).action == .stop)
            #expect(Self.decision(Self.gate(Self.claude(70)), order).action == .pause)
            #expect(Self.decision(Self.gate(Self.claude(55)), order).action == .tell)
        }
    }

    @Test("a limit of a model counts for that model alone, and for none that is not known")
    func models() {
        let gate = Self.gate(Self.claude(99, label: "Opus"))
        #expect(Self.decision(gate, model: "claude-opus-4-1-20250805").action == .stop)
        #expect(Self.decision(gate, model: "claude-sonnet-4-5").reason == .otherModel)
        #expect(Self.decision(gate).reason == .unknownModel)
        #expect(Self.decision(Self.gate(Self.claude(99, label: "Individual limit"))).action == .stop)
    }

    @Test("of several accounts of a tool one that is not named stops only if all are over")
    func accounts() {
        let (full, free) = (Self.claude(99, account: "a@example.test"), Self.claude(10, account: "b@example.test"))
        #expect(Self.decision(Self.gate(full, free)).action == nil)
        #expect(Self.decision(Self.gate(full, Self.claude(96, account: "b@example.test"))).action == .stop)
        var named = Self.stopAt95
        named.account = "A@example.test"
        #expect(Self.decision(Self.gate(full, free), [named]).action == .stop)
        named.account = "c@example.test"
        #expect(Self.decision(Self.gate(full, free), [named]).reason == .otherAccount)
    }

    @Test("of accounts on several machines only those of this machine count, unless the rule names another")
    func accountsHere() {
        let work = SyncedUsageSnapshot(
            providers: [Self.claude(10, account: "work@example.test")], syncTimestamp: Self.now, deviceName: "desk",
            deviceID: "d1")
        let own = SyncedUsageSnapshot(
            providers: [Self.claude(99, account: "own@example.test")], syncTimestamp: Self.now, deviceName: "laptop",
            deviceID: "d2")
        let data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge([work, own], now: Self.now)))
        func action(on device: String?, account: String? = nil) -> GateRule.Action? {
            var rule = Self.stopAt95
            rule.account = account
            return Self.decision(GateUsage(data, device: device, now: Self.now), [rule]).action
        }
        #expect(action(on: "D2") == .stop)
        #expect(action(on: "d1") == nil)
        #expect(action(on: "d1", account: "own@example.test") == .stop)
        #expect(action(on: nil) == nil && action(on: "d3") == nil)
    }

    @Test(
        "a rule of a directory is about what works there or below, however it is written",
        arguments: ["/home/dev/work", "/home/dev/work/", "//home/dev/./work"])
    func directories(directory: String) {
        var rule = Self.stopAt95
        rule.directory = directory
        let gate = Self.gate(Self.claude(99))
        for inside in ["/home/dev/work", "/home/dev/work/a", "/home/dev//work/"] {
            #expect(Self.decision(gate, [rule], directory: inside).action == .stop)
        }
        for other in ["/home/dev/workshop", "/home/dev", nil] {
            #expect(Self.decision(gate, [rule], directory: other).reason == .otherDirectory)
        }
    }

    @Test("a rule names its window and its tool as every other command does")
    func names() {
        let gate = Self.gate(Self.claude(99))
        for window in ["weekly", "Weekly", "7d"] {
            let rule = GateRule(provider: "Claude", window: window, .used(percent: 95), then: .stop)
            #expect(Self.decision(gate, [rule]).action == .stop, "\(window)")
        }
        #expect(Self.decision(gate, [GateRule(window: "5h", .used(percent: 95), then: .stop)]).reason == .noWindow)
        #expect(Self.decision(gate, [GateRule(provider: "codex", .used(percent: 95), then: .stop)]).reason == .noRule)
    }

    @Test("a rule that is about no known limit says what is known, and a provider that nobody has is a misspelling")
    func absence() {
        let gate = Self.gate(Self.claude(40, account: "a@example.test"))
        func absence(_ provider: String? = nil, _ account: String? = nil, _ window: String? = nil) -> String? {
            GateRule(provider: provider, account: account, window: window, .used(percent: 95), then: .stop)
                .absence(in: gate)
        }
        #expect(absence() == nil && absence(nil, nil, "7d") == nil)
        #expect(absence("CLAUDE", "A@example.test", "weekly") == nil)
        #expect(absence("cluade") == "no provider 'cluade'; known: claude")
        #expect(absence("claude", "nobody") == "no account 'nobody'; known: a@example.test")
        #expect(absence("claude", nil, "wekly") == "no window 'wekly'; known: Weekly")
        #expect(absence(Budget.providerID) == "no provider 'budget'; known: none")
        func misspelling(_ provider: String) -> String? {
            GateRule.misspelling(of: provider, in: gate, sources: [("codex", "Codex"), ("grok", "Grok")])
        }
        for known in ["Claude", "codex", "GROK", Budget.providerID] { #expect(misspelling(known) == nil, "\(known)") }
        #expect(misspelling("cluade") == "no provider 'cluade'; known: budget, claude, codex, grok")
    }

    @Test("a limit that runs out within the time of a rule stops, and one that lasts does not")
    func runsOut() {
        // 90 % after 8 of 10 hours: at this pace it is reached in less than an hour.
        let window = Self.usage.window(90, minutes: 600, resetsIn: 120)
        let gate = Self.gate(Self.usage.account("claude", [window]))
        func rule(_ minutes: Double) -> GateRule { GateRule(.runsOut(within: minutes * 60), then: .stop) }
        #expect(Self.decision(gate, [rule(60)]).action == .stop)
        #expect(Self.decision(gate, [rule(30)]).reason == .below)
    }

    @Test("a decision names the window, its number, its age, its machine and its reset")
    func words() {
        let decision = Self.decision(Self.gate(Self.claude(96, minutesAgo: 3)))
        #expect(decision.summary(now: Self.now) == "Claude Weekly: 96 % used (box, 3 min ago), resets in 10h")
        #expect(decision.userMessage(now: Self.now).contains("any limit at 95 %: stop"))
        #expect(decision.modelMessage(now: Self.now).contains("96 % used"))
    }

    @Test("the file of numbers says after reading what it said before, and is refused when it is too long")
    func file() throws {
        var gate = Self.gate(Self.claude(96), Self.usage.account("codex", [Self.usage.window(3)]))
        gate.rules = GateRules([Self.stopAt95])
        #expect(GateUsage(reading: gate.data) == gate)
        let long = try #require(gate.data) + Data(repeating: 0x20, count: GateUsage.byteLimit)
        #expect(GateUsage(reading: long).accounts.isEmpty)
    }

    @Test(
        "rules of the account that two machines set at the same time both count, and one with the same scope replaces")
    func accountRules() {
        func stored(_ rules: GateRule...) -> [String: Data] {
            Dictionary(rules.map { (GateRules.storeKey(of: $0), $0.data) }) { $1 }
        }
        let (weekly, session) = (
            GateRule(window: "weekly", .used(percent: 95), then: .stop),
            GateRule(window: "session", .used(percent: 90), then: .pause)
        )
        #expect(GateRules(stored: stored(weekly, session)).rules.count == 2)
        let later = GateRule(window: "weekly", .used(percent: 50), then: .stop)
        #expect(GateRules(stored: stored(weekly, later)).rules == [later])
        var damaged = stored(weekly)
        damaged[GateRules.storeKey(of: session)] = Data("{".utf8)
        #expect(GateRules(stored: damaged).rules == [weekly])
        #expect(GateRules(stored: damaged).issue == "1 of 2 rules cannot be used")
    }

    @Test("rules are kept, one that cannot be used is left out with a reason, and damaged ones are none")
    func rules() {
        var pause = GateRule(provider: "claude", window: "weekly", .used(percent: 95), then: .pause)
        pause.directory = "/a"
        let rules = GateRules([pause, GateRule(.runsOut(within: 1_800), then: .ask)])
        #expect(GateRules(reading: rules.data) == rules)
        let text =
            #"{"rules": [{"at": 95, "then": "stop"}, {"at": 0, "then": "stop"}, {"at": 9, "then": "burn"}, 7, "#
            + #"{"at": 9, "then": "stop", "provder": "codex"}]}"#
        let lenient = GateRules(reading: Data(text.utf8))
        #expect(lenient.rules == [Self.stopAt95])
        #expect(lenient.issue == "4 of 5 rules cannot be used")
        let damaged = GateRules(reading: Data("{\"rules\": [".utf8))
        #expect(damaged.rules.isEmpty && damaged.issue == "the rules cannot be read")
    }

    @Test("what is told once is told again only when the window has been reset")
    func telling() throws {
        let verdict = try #require(
            Self.decision(Self.gate(Self.claude(96)), [GateRule(.used(percent: 90), then: .tell)]).verdict)
        var session = GateSession()
        let told = [0, 599, 601].map { minutes in
            session = GateSession(reading: session.data)
            return session.shouldNotify(of: verdict, now: Self.now.addingTimeInterval(minutes * 60))
        }
        #expect(told == [true, false, true])
    }

    @Test(
        "what waits goes on within a minute of the reset, each session at a second of its own, and no reading grows old"
    )
    func waiting() {
        let rule = GateRule(.used(percent: 95), then: .pause)
        let gate = Self.gate(Self.claude(96, resetsIn: 20))
        let reset = Self.now.addingTimeInterval(20 * 60)
        let request = GateRequest(provider: "claude", madeAt: Self.now)
        var ends: Set<Double> = []
        for session in 0..<50 {
            var wait = GateWait(rule, session: "session-\(session)", now: Self.now)
            var now = Self.now
            while case .waiting(let next) = wait.progress(
                GateDecision(gate, own: GateRules([rule]), request, now: now), now: now)
            {
                #expect(next > now)
                now = next
            }
            #expect(now < wait.until)
            #expect((0...60).contains(now.timeIntervalSince(reset)))
            ends.insert((now.timeIntervalSince(reset) * 10).rounded())
        }
        #expect(ends.count > 40)
    }

    @Test("what waits goes on when its patience ends")
    func patience() {
        var rule = GateRule(.used(percent: 95), then: .pause)
        rule.waitLimit = 600
        var wait = GateWait(rule, session: "a", now: Self.now)
        let decision = Self.decision(Self.gate(Self.claude(96)), [rule])
        #expect(wait.progress(decision, now: Self.now.addingTimeInterval(599)) == .waiting(next: wait.until))
        #expect(wait.progress(decision, now: Self.now.addingTimeInterval(600)) == .timedOut)
    }
}
