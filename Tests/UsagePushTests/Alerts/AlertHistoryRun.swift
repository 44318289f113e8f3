import Foundation
import StoreTestSupport
import SnapshotModels
@testable import UsageState

/// A detector and a machine that warns, shown random readings of two accounts.
struct AlertHistoryRun {
    /// One reading, and what it caused.
    struct Look {
        /// By what the whole history says.
        var expected: Double?
        /// Whether the account's earlier numbers were all too old to cause an alert.
        var isFirstThatCounts: Bool
        var detected: [Double]
        var delivered: [Double]
    }

    /// A number that was known at some time.
    private struct Known {
        var percent: Double
        /// The true one.
        var window: Int
        /// In minutes, as all times here.
        var observedAt: Double
        var counts: Bool
    }

    private struct Reading {
        var percent: Double
        var window: Int
        var observedAt: Double
        var pushedAt: Double
        var resetsAt: Double?
        var isEstimate = false
    }

    private struct Account {
        let truth: UsageTruth
        var known: [Known] = []
        var last: Reading?
    }

    /// The last looks, for a failure.
    var log: String {
        steps.suffix(12).map { "\($0)" }.joined(separator: "\n")
    }

    private var steps: [Step] = []
    private typealias Step = (
        now: Int, account: Int, reading: Reading, thresholds: [Double], doubts: Set<AlertRules.Doubt>, expected: Double?
    )
    private var random: SeededGenerator
    private var rules = AlertRules()
    private var accounts: [Account] = []
    private var detector = AlertDetector()
    private var watch = AlertWatch(deviceID: "m")
    private var notice: AlertNotice?
    /// The first reading may be ten hours old.
    private var now = 600

    private static let end = 2_400

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        for _ in 0..<2 {
            accounts.append(
                Account(truth: UsageTruth(minutes: Self.end, hasResets: random.one(in: 4) == false, &random)))
        }
        rules.resetFrom = nil
        rules.runsOut = false
        rules.silence = false
        changeRules()
    }

    /// Nil at the end.
    mutating func next() throws -> Look? {
        now += random.one(in: 10) ? random.minutes(120...700) : random.minutes(1...40)
        guard now < Self.end else { return nil }
        if random.one(in: 30) { changeRules() }
        if random.one(in: 8) { try restart() }
        let index = random.minutes(0...1)
        let reading = reading(of: accounts[index])
        accounts[index].last = reading
        let (expected, isFirst) = expectation(reading, &accounts[index])
        steps.append((now, index, reading, rules.thresholds, rules.doubts, expected))
        let model = scene(reading, account: index).model
        let detected = detector.observe(model, rules: rules, ownDevice: nil)
        return Look(
            expected: expected, isFirstThatCounts: isFirst,
            detected: detected.compactMap(\.threshold), delivered: deliver(model))
    }

    // MARK: - What the whole history says

    /// The highest threshold that was passed since a number from before it.
    private func expectation(
        _ reading: Reading, _ account: inout Account
    ) -> (threshold: Double?, isFirstThatCounts: Bool) {
        let now = Double(now)
        let age = now - reading.observedAt
        let isAhead = age < -1
        // Neither are known numbers.
        if reading.isEstimate || isAhead && !rules.doubts.contains(.stale) { return (nil, false) }
        let observedAt = isAhead ? now : reading.observedAt
        // One that is overtaken says nothing new.
        if let latest = account.known.last, observedAt < latest.observedAt { return (nil, false) }
        let isOld = age > 60 && !rules.doubts.contains(.stale)
        let wasOld =
            !isAhead && age <= 60 && reading.pushedAt - reading.observedAt > 5
            && !rules.doubts.contains(.cached)
        let isOver = reading.resetsAt.map { $0 <= now } ?? false
        let present = Known(
            percent: reading.percent, window: reading.window, observedAt: observedAt,
            counts: !isOld && !wasOld && !isOver)
        let earlier = account.known
        account.known.append(present)
        guard present.counts else { return (nil, false) }
        let levels = rules.thresholds + (rules.reached ? [100] : [])
        return (
            levels.filter { $0 <= present.percent && Self.wasBelow($0, earlier, present) }.max(),
            !earlier.isEmpty && !earlier.contains(where: \.counts)
        )
    }

    /// Whether use was known to be below a level after the last number that counts and reached it.
    private static func wasBelow(_ level: Double, _ earlier: [Known], _ present: Known) -> Bool {
        for number in earlier.reversed() {
            // Nothing was used when the present window began.
            if number.window != present.window || number.percent <= level - 5 { return true }
            if number.counts && number.percent >= level { return false }
        }
        return earlier.first.map { $0.percent < level } ?? false
    }

    // MARK: - What is shown to them

    private mutating func reading(of account: Account) -> Reading {
        // The same again, as when something else in the store has changed.
        if let last = account.last, random.one(in: 6) { return last }
        // Fresh, cached, stale, and late though it was pushed at once.
        let lags = [0...4, 0...4, 0...4, 6...60, 61...600, 10...58]
        let isAhead = random.one(in: 20)
        let lag = isAhead ? 0...0 : lags.randomElement(using: &random) ?? 0...0
        let isLate = lag == 10...58
        let observed = now - random.minutes(lag)
        let minute = account.truth.minutes[observed]
        var reading = Reading(
            percent: minute.percent, window: minute.window, observedAt: Double(observed),
            pushedAt: Double(isLate ? observed : now),
            resetsAt: account.truth.hasResets
                ? Double(minute.resetsAt + random.minutes(-13...13)) : nil)
        if isAhead { reading.observedAt += Double(random.minutes(2...90)) }
        if random.one(in: 20) {
            reading.isEstimate = true
            reading.percent = Double(random.minutes(0...100))
        }
        return reading
    }

    private func scene(_ reading: Reading, account: Int) -> UsageScene {
        func date(_ minutes: Double) -> Date { UsageScene.noon + minutes * 60 }
        var scene = UsageScene(now: date(Double(now)))
        scene.account = "dev\(account)@example.test"
        scene.used = reading.percent
        scene.minutes = UsageTruth.length
        scene.resetsAt = reading.resetsAt.map { date($0) }
        scene.age = (Double(now) - reading.observedAt) * 60
        scene.pushedAt = date(reading.pushedAt)
        scene.confidence = reading.isEstimate ? "estimated" : nil
        scene.deviceID = "box \(now % 3)"
        scene.link = .notJoined
        return scene
    }

    private mutating func deliver(_ model: ViewModel) -> [Double] {
        let uptime = Double(now) * 60
        let output = watch.step(
            AlertWatch.Input(model: model, notices: notice.map { ["m": $0] } ?? [:], uptime: uptime),
            AlertWatch.Settings(rules: rules))
        notice = output.notice ?? notice
        for alert in output.alerts { watch.delivered(alert, succeeded: true, uptime: uptime) }
        return output.alerts.compactMap(\.threshold)
    }

    private mutating func changeRules() {
        let count = random.minutes(0...5)
        let thresholds = (0..<count).map { _ in Double(random.minutes(1...99)) }
        rules.thresholds = AlertRules.valid(thresholds) ?? []
        rules.reached = !random.one(in: 3)
        rules.doubts = Set([AlertRules.Doubt.stale, .cached].filter { _ in random.one(in: 6) })
    }

    private mutating func restart() throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        detector = try decoder.decode(AlertDetector.self, from: encoder.encode(detector))
        watch = try decoder.decode(AlertWatch.self, from: encoder.encode(watch))
    }
}

extension SeededGenerator {
    /// True once in so many times.
    fileprivate mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    fileprivate mutating func minutes(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
