import ClockZones
import Foundation
import Testing
import UsageState

@Suite("Which changes are worth an alert")
struct AlertDetectorTests {
    /// Pace and resets are tested on their own.
    private var run: DetectorRun {
        var run = DetectorRun()
        run.rules.runsOut = false
        return run
    }

    @Test("the first alert of a day comes, although the numbers of the night were old")
    func morning() throws {
        var codex = run
        #expect(
            codex.see {
                ($0.provider, $0.minutes, $0.resetsAt) = ("codex", 10_080, $0.now + 200_000)
                ($0.used, $0.age) = (36, 8 * 3_600)
            } == [])
        try codex.restart()
        #expect(codex.see { ($0.used, $0.age) = (76, 0) } == ["threshold 75"])

        // A session that was reset in the night, and one that goes on.
        for reset in [-4.0, 2] {
            var claude = run
            let old = claude.see { ($0.used, $0.age, $0.resetsAt) = (22, 9_000, $0.now + reset * 3_600) }
            #expect(old == [])
            let fresh = claude.see { ($0.used, $0.age, $0.resetsAt) = (92, 0, UsageScene.noon + 7_200) }
            #expect(fresh == ["threshold 90"], "\(reset)")
        }
    }

    @Test("stale numbers, cached ones and estimates count only if asked for", arguments: AlertRules.Doubt.allCases)
    func doubts(_ doubt: AlertRules.Doubt) {
        func results(_ rules: AlertRules) -> [String] {
            var run = DetectorRun()
            run.rules = rules
            _ = run.used(40)
            return run.see(after: 7_200) {
                $0.used = 80
                $0.resetsAt = nil
                switch doubt {
                case .stale: $0.age = 3_700
                case .cached: $0.age = 400
                case .estimates: $0.confidence = "estimated"
                }
            }
        }
        var rules = AlertRules()
        rules.resetFrom = nil
        #expect(results(rules) == [])
        rules.doubts = [doubt]
        #expect(results(rules) == ["threshold 75"])
    }

    @Test(
        "rules that cannot be used have their default",
        arguments: [
            ("{}", 75), (#"{"resetFrom":null}"#, nil), (#"{"resetFrom":60}"#, 60),
            (#"{"resetFrom":0}"#, 75), (#"{"resetFrom":"off"}"#, 75),
        ] as [(String, Double?)])
    func defaults(json: String, resetFrom: Double?) throws {
        let rules = try JSONDecoder().decode(AlertRules.self, from: Data(json.utf8))
        #expect(rules.resetFrom == resetFrom)
    }

    @Test("accounts and providers are apart")
    func accounts() {
        var run = run
        _ = run.used(40)
        #expect(run.see { ($0.account, $0.used) = ("work@example.test", 95) } == [])
        #expect(run.see { ($0.account, $0.used) = ("DEV@example.test", 95) } == ["threshold 90"])
        #expect(run.see { ($0.provider, $0.used) = ("codex", 95) } == [])
    }

    @Test(
        "the narrowest thresholds count",
        arguments: [
            (["claude": [30.0]], ["threshold 30"]),
            (["claude": [30.0], "*/session": [40.0]], ["threshold 40"]),
            (["*/session": [40.0], "claude/session": [20.0]], ["threshold 20"]),
            (["claude/session (5h)": [20.0]], ["threshold 20"]),
            (["claude/5h": [20.0]], ["threshold 20"]),
            (["claude/weekly": [20.0]], []),
            (["claude": []], []),
        ] as [([String: [Double]], [String])])
    func scopes(_ scopes: [String: [Double]], _ expected: [String]) {
        var run = run
        run.rules.scopes = scopes
        run.rules.thresholds = [90]
        _ = run.used(5)
        #expect(run.used(45) == expected)
    }

    @Test("a reset is said at its time, without newer numbers, where the limit had been near")
    func reset() throws {
        for (used, age, expected) in [(74.0, 0.0, [String]()), (76, 0, ["reset"]), (76, 3_700, [])] {
            var run = run
            run.rules.silence = false
            _ = run.see { ($0.used, $0.age) = (used, age) }
            let due = run.detector.nextDue(run.rules)
            #expect(due == (expected.isEmpty ? nil : run.scene.resetsAt))
            #expect(run.see(after: 3_600) == [])
            let alerts = run.see(after: 3 * 3_600) { $0.age = 4 * 3_600 }
            #expect(alerts == expected)
            #expect(run.see(after: 60) { $0.age = 4 * 3_600 + 60 } == [])
            // The next window begins without another one.
            #expect(run.see { ($0.used, $0.age, $0.resetsAt) = (3, 0, $0.now + 5 * 3_600) } == [])
        }
    }

    @Test("a reset that comes early is said when numbers show it")
    func earlyReset() {
        var run = run
        _ = run.used(95)
        #expect(run.see { ($0.used, $0.resetsAt) = (2, $0.now + 5 * 3_600) } == ["reset"])
    }

    @Test("a reset that was slept through is no longer said, but is over")
    func lateReset() {
        var run = run
        run.rules.silence = false
        _ = run.used(95)
        #expect(run.see(after: 30 * 3_600) { $0.age = 30 * 3_600 } == [])
        #expect(run.detector.nextDue(run.rules) == nil)
    }

    @Test("a limit that will run out early is said once, until use falls behind the pace")
    func pace() {
        var run = DetectorRun()
        run.rules.thresholds = []
        // One hour into five.
        _ = run.used(10)
        #expect(run.used(40) == ["runsOut"])
        #expect(run.used(41) == [])
        // On pace, within the hysteresis.
        #expect(run.used(21) == [])
        #expect(run.used(42) == [])
        #expect(run.used(15) == [])
        #expect(run.used(43) == ["runsOut"])
        // Old numbers say that it was not so yet, but not that it is.
        var morning = DetectorRun()
        morning.rules.thresholds = []
        morning.scene.resetsAt = UsageScene.noon + 7_200
        for used in [10.0, 80] { #expect(morning.see { ($0.used, $0.age) = (used, 3_700) } == []) }
        #expect(morning.see { ($0.used, $0.age) = (80, 0) } == ["runsOut"])
    }

    @Test("a pace that only just misses the reset, or is young, is not said")
    func smallLead() {
        var run = DetectorRun()
        run.rules.thresholds = []
        _ = run.used(10)
        #expect(run.used(21) == [])
        var young = DetectorRun()
        young.rules.thresholds = []
        young.scene.resetsAt = UsageScene.noon + 4.7 * 3_600
        _ = young.used(1)
        #expect(young.used(50) == [])
    }

    @Test("a device that stops pushing is said after an hour, once, and again after another push")
    func silence() {
        var run = run
        // Connected, and caught up.
        _ = run.see()
        _ = run.see(after: 120)
        func silent(_ run: inout DetectorRun, _ seconds: Double) -> [String] {
            run.see(after: seconds) { $0.pushedAt = $0.pushedAt ?? $0.now - seconds }
        }
        #expect(silent(&run, 3_540) == [])
        #expect(run.detector.nextDue(run.rules) == run.scene.now + 60)
        #expect(silent(&run, 60) == ["silent"])
        #expect(silent(&run, 7_200) == [])
        #expect(run.see { $0.pushedAt = nil } == [])
        #expect(silent(&run, 3_600) == ["silent"])
    }

    @Test("who is offline, or has just connected, calls nobody silent")
    func blind() {
        var run = run
        _ = run.see()
        _ = run.see(after: 120) { $0.pushedAt = $0.now }
        #expect(run.see(after: 7_200) { $0.link = .offline(lastSeen: nil) } == [])
        #expect(run.see(after: 60) { $0.link = .online } == [])
        // What was missed arrives.
        #expect(run.see(after: 30) { $0.pushedAt = $0.now - 100 } == [])
        #expect(run.see(after: 60) == [])
    }

    @Test(
        "paused agents are one alert for each limit and machine, once, also after a restart, and again at the next reset"
    )
    func pauses() throws {
        func wait(_ tool: String, _ limit: String, until: Double) -> GateWaits.Wait {
            GateWaits.Wait(
                tool: tool, limit: limit, account: "dev@example.test", since: UsageScene.noon,
                until: UsageScene.noon + until)
        }
        var run = run
        run.scene.now += 60
        run.scene.waits = [wait("codex", "Codex Weekly", until: 7_200)]
        let alert = try #require(run.alerts().first)
        let text = AlertText(alert, now: run.scene.now, zone: .fixed(secondsFromGMT: 0))
        #expect(text.title == "Codex is paused on box")
        #expect(text.message == "dev@example.test · Codex Weekly · resumes in 1h 59m (14:00)")
        let document = try #require(
            try JSONSerialization.jsonObject(with: AlertDocument(alert, text: text).data) as? [String: Any])
        #expect((document["pause"] as? [String: Any])?["limit"] as? String == "Codex Weekly")
        run.scene.waits.append(wait("codex", "Codex Weekly", until: 7_230))
        #expect(run.alerts() == [])
        try run.restart()
        #expect(run.alerts() == [])
        run.scene.waits += [wait("claude", "Opus", until: 9_000), wait("qwen", "Opus", until: 9_100)]
        #expect(
            run.alerts().map { AlertText($0, now: run.scene.now, zone: .fixed(secondsFromGMT: 0)).title } == [
                "2 agents are paused on box"
            ])
        run.scene.waits = [wait("codex", "Codex Weekly", until: 7_200 + 18_000)]
        #expect(run.see() == ["paused"])
        run.scene.waits = []
        #expect(run.see() == [])
        run.scene.waits = [wait("codex", "Codex Weekly", until: 80_000)]
        run.rules.pauses = false
        #expect(run.see() == [])
    }

    @Test("a removal is an alert once, also after a restart, and again after another one")
    func removal() throws {
        var run = run
        _ = run.see()
        #expect(run.see(after: 60) { $0.link = .removed } == ["removed"])
        try run.restart()
        #expect(run.see(after: 60) == [])
        #expect(run.see(after: 60) { $0.link = .online } == [])
        #expect(run.see(after: 60) { $0.link = .removed } == ["removed"])
    }

    @Test("this device, and one that was silent from the beginning, are not said")
    func knownSilence() {
        var own = run
        own.scene.deviceID = "own"
        _ = own.see()
        #expect(own.see(after: 7_200) { $0.pushedAt = $0.now - 7_200 } == [])
        var old = run
        old.scene.pushedAt = UsageScene.noon - 90_000
        #expect(old.see() == [])
        #expect(old.see(after: 120) == [])
    }
}
