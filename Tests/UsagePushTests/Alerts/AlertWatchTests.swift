import Foundation
import Testing
@testable import UsageState

/// One machine that warns, shown a state step by step.
@Suite("When a machine warns")
struct AlertWatchTests {
    /// A machine with the id "m", which sees a workstation and others that warn.
    private struct Run {
        var scene = UsageScene()
        var settings = AlertWatch.Settings()
        var watch = AlertWatch(deviceID: "m")
        var uptime = 0.0
        /// With beats that go on.
        var notices: [String: AlertNotice] = [:]

        init() {
            settings.rules.silence = false
            settings.rules.runsOut = false
            scene.resetsAt = nil
            scene.link = .notJoined
        }

        /// What it would deliver, after a time in which the others give signs of life.
        mutating func step(after seconds: Double = 60, othersLive: Bool = true, used: Double? = nil) -> [Alert] {
            uptime += seconds
            scene.now += seconds
            if let used { scene.used = used }
            if othersLive { for id in notices.keys { notices[id]?.heartbeat += 1 } }
            let output = watch.step(AlertWatch.Input(model: scene.model, notices: notices, uptime: uptime), settings)
            if let notice = output.notice { notices["m"] = notice }
            return output.alerts
        }

        mutating func deliver(_ alerts: [Alert], succeeds: Bool = true) {
            for alert in alerts { watch.delivered(alert, succeeded: succeeds, uptime: uptime) }
        }
    }

    private static let other = AlertNotice(watches: true, heartbeat: 1, delivered: [])

    @Test("alone it warns at once, once")
    func alone() {
        var run = Run()
        #expect(run.step() == [])
        let alerts = run.step(used: 55)
        #expect(alerts.map(\.threshold) == [50])
        run.deliver(alerts)
        #expect(run.step() == [])
        #expect(run.notices["m"]?.delivered == alerts.map(\.mark))
    }

    @Test("behind others it waits for each of them, and for those alone that still warn")
    func rank() {
        for (ids, wait) in [(["z"], 0.0), (["a"], 90), (["a", "b", "z"], 180)] {
            var run = Run()
            for id in ids { run.notices[id] = Self.other }
            _ = run.step()
            var waited = 0.0
            var alerts = run.step(used: 55)
            while alerts.isEmpty, waited < 1_000 {
                alerts = run.step(after: 5)
                waited += 5
            }
            #expect(waited == wait, "\(ids)")
        }
        var left = Run()
        left.notices["a"] = AlertNotice(watches: false, heartbeat: 1, delivered: [])
        _ = left.step()
        #expect(left.step(used: 55).count == 1)
    }

    @Test("what another has delivered it does not")
    func covered() {
        var run = Run()
        run.notices["a"] = Self.other
        _ = run.step()
        #expect(run.step(used: 55) == [])
        var other = Run()
        _ = other.step()
        // The other one saw only more, and said that.
        other.uptime = run.uptime
        run.notices["a"]?.delivered = other.step(used: 80).map(\.mark)
        #expect(run.step(after: 200) == [])
    }

    @Test("what was delivered before use had fallen again does not stand for the next time")
    func fallen() {
        var run = Run()
        _ = run.step()
        run.deliver(run.step(used: 55))
        #expect(run.step(used: 40) == [])
        #expect(run.step(used: 55).map(\.threshold) == [50])
    }

    @Test("a machine without its state warns again of a limit without a reset that had fallen")
    func lostState() {
        var run = Run()
        _ = run.step()
        run.deliver(run.step(used: 92))
        _ = run.step()
        run.watch = AlertWatch(deviceID: "m")
        #expect(run.step(used: 22) == [])
        #expect(run.step(used: 92).map(\.threshold) == [90])
    }

    @Test("one that gives no sign for eleven minutes is no longer waited for")
    func dead() {
        var run = Run()
        run.notices["a"] = Self.other
        _ = run.step()
        _ = run.step(after: 400, othersLive: false)
        _ = run.step(after: 270, othersLive: false)
        #expect(run.step(othersLive: false, used: 55).count == 1)
    }

    @Test("who was offline or asleep waits for the others again", arguments: [true, false])
    func blind(isOffline: Bool) {
        var run = Run()
        run.scene.link = .online
        run.notices["a"] = Self.other
        _ = run.step()
        _ = run.step()
        if isOffline {
            run.scene.link = .offline(lastSeen: nil)
            for _ in 0..<20 { _ = run.step(othersLive: false) }
            run.scene.link = .online
            #expect(run.step(othersLive: false, used: 55) == [])
        } else {
            #expect(run.step(after: 7_200, othersLive: false, used: 55) == [])
        }
        // Long enough for what the other one has said to arrive.
        #expect(run.step(othersLive: false) == [])
        #expect(run.step(othersLive: false).count == 1)
    }

    @Test("the first of all waits until it has what it missed")
    func catchingUp() {
        var run = Run()
        _ = run.step()
        run.scene.link = .online
        #expect(run.step(used: 55) == [])
        #expect(run.step(after: 5) == [])
        #expect(run.step(after: 15).count == 1)
    }

    @Test("an independent one neither waits nor listens, but says what it delivers")
    func independent() {
        var run = Run()
        run.settings.isIndependent = true
        run.notices["a"] = Self.other
        _ = run.step()
        let alerts = run.step(used: 55)
        #expect(alerts.count == 1)
        run.deliver(alerts)
        _ = run.step()
        #expect(run.notices["m"]?.delivered.count == 1)
    }

    @Test("what no target took is tried again later, and is not said to be delivered")
    func failure() {
        var run = Run()
        _ = run.step()
        for (pause, next) in [(59.0, 1.0), (119, 1), (239, 1)] {
            let alerts = run.step(used: 55)
            #expect(alerts.count == 1)
            run.deliver(alerts, succeeds: false)
            #expect(run.step(after: pause) == [])
            run.uptime += next - 60
            run.scene.now += next - 60
        }
        #expect(run.notices["m"]?.delivered == [])
    }

    @Test("a restart between decision and delivery delivers")
    func restart() throws {
        var run = Run()
        _ = run.step()
        #expect(run.step(used: 55).count == 1)
        run.watch = try JSONDecoder().decode(AlertWatch.self, from: JSONEncoder().encode(run.watch))
        let alerts = run.step()
        #expect(alerts.count == 1)
        run.deliver(alerts)
        run.watch = try JSONDecoder().decode(AlertWatch.self, from: JSONEncoder().encode(run.watch))
        #expect(run.step() == [])
    }

    @Test("quiet hours hold everything, and one summary follows, without what others have said")
    func quiet() {
        var run = Run()
        run.settings.quiet = QuietHours("12:00-13:00")
        _ = run.step()
        for used in [55.0, 56, 80, 92] { #expect(run.step(used: used) == []) }
        run.scene.account = "work@example.test"
        _ = run.step(used: 10)
        #expect(run.step(used: 60) == [])
        let summary = run.step(after: 3_600)
        #expect(summary.map(\.kind) == [.summary])
        #expect(summary.first?.events?.map(\.threshold) == [90, 50])
        run.deliver(summary)
        #expect(run.step() == [])
        #expect(run.notices["m"]?.delivered.count == 2)
    }

    @Test("who no longer warns says so once")
    func leaving() {
        var run = Run()
        _ = run.step()
        let notice = run.watch.leave(run.notices["m"])
        #expect(notice?.watches == false)
        #expect(run.watch.leave(notice) == nil)
    }

    @Test("a notice of anybody is bounded, and anything else is none")
    func notices() throws {
        let mark = AlertMark(key: "k", instance: .min, level: 1)
        let long = AlertNotice(watches: true, heartbeat: 1, delivered: Array(repeating: mark, count: 300))
        #expect(AlertNotice.read(long.data)?.delivered.count == AlertNotice.markLimit)
        for text in ["", "[]", "{}", #"{"watches": 1}"#, String(repeating: "[", count: 100_000)] {
            #expect(AlertNotice.read(Data(text.utf8)) == nil)
        }
        // Numbers at the ends of what they can be.
        #expect(!AlertMark(key: "k", instance: .max).covers(mark))
        #expect(mark.covers(mark))
    }
}
