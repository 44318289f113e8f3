import Foundation
import StoreTestSupport
import Testing

@testable import SnapshotModels
@testable import UsagePusher

/// One look at when to ask, in minutes around a time.
struct AskTimingCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var every = 10
    var whenOlder = 15
    var newest: Double?
    /// Who supplied the newest reading; nil for a card without numbers.
    var supplier: String? = "b"
    var machines = ["a", "b", "c"]
    var device = "b"
    var lastQuestion: Double?
    var failureCount = 0
    /// Minutes from now; nil for at once.
    let due: Double?

    static let all: [AskTimingCase] = [
        .init(testDescription: "nothing is known", machines: [], due: nil),
        .init(testDescription: "a fresh reading is not asked for", newest: -5, due: 10),
        .init(testDescription: "an old reading of the only machine", newest: -90, machines: ["b"], due: nil),
        .init(
            testDescription: "not before the interval has passed", newest: -20, machines: ["b"], lastQuestion: -3,
            due: 7),
        .init(
            testDescription: "a failure doubles the interval", newest: -90, machines: ["b"], lastQuestion: -3,
            failureCount: 1, due: 17),
        .init(
            testDescription: "many failures mean six hours", newest: -900, machines: ["b"], lastQuestion: -3,
            failureCount: 9, due: 357),
        .init(
            testDescription: "a longer interval stays as it is", every: 600, newest: -900, machines: ["b"],
            lastQuestion: -3, failureCount: 9, due: 597),
        .init(
            testDescription: "a question of the future is of a wrong clock", newest: -90, machines: ["b"],
            lastQuestion: 900, due: nil),
        .init(testDescription: "a reading of the future is of a wrong clock", newest: 90, machines: ["b"], due: nil),
        .init(testDescription: "the supplier asks first", newest: -15, device: "b", due: nil),
        .init(testDescription: "the first of the others is later by a slot", newest: -15, device: "a", due: 2.5),
        .init(testDescription: "and the second by another one", newest: -15, device: "c", due: 5),
        .init(
            testDescription: "who is late takes the next slot of its own, which begins with the reading", newest: -20,
            device: "b", due: 2.5),
        .init(
            testDescription: "without numbers every machine has a slot", newest: -8, supplier: nil, device: "c",
            due: 4.5),
    ]

    func check() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func date(_ minutes: Double) -> Date { now.addingTimeInterval(minutes * 60) }
        let account = newest.map { age in
            Account(machines.map { ($0, $0 == supplier ? date(age) : date(age - 60), now) }, supplier: supplier)
                .provider(updated: date(age))
        }
        let settings = AskSettings(every: every * 60, whenOlder: whenOlder * 60, program: "/codex")!
        var timing = AskTiming(settings, account: account, device: device, at: now)
        timing.lastQuestion = lastQuestion.map(date)
        timing.failureCount = failureCount
        let minutes = timing.due(at: now).timeIntervalSince(now) / 60
        #expect(due.map { abs($0 - minutes) < 0.001 } ?? (minutes <= 0), "\(minutes)")
    }
}

/// An account as machines have pushed it.
private struct Account {
    let parts: [(device: String, updated: Date, pushed: Date)]
    let supplier: String?

    init(_ parts: [(device: String, updated: Date, pushed: Date)], supplier: String?) {
        self.parts = parts
        self.supplier = supplier
    }

    func provider(updated: Date) -> MergedProvider {
        MergedProvider(
            snapshot: ProviderUsageSnapshot(
                providerID: "codex", providerName: "Codex", lastUpdated: updated,
                rateWindows: supplier.map { _ in [SyncRateWindow(usedPercent: 1)] }),
            parts: parts.map {
                ProviderPart(
                    deviceID: $0.device.uppercased(), deviceName: $0.device, account: nil, lastUpdated: $0.updated,
                    syncTimestamp: $0.pushed, suppliesWindows: $0.device == supplier, costSummary: nil)
            })
    }
}

/// Three machines with one account. Times are in seconds; each machine sees the others' readings a little later.
private struct AskHistory {
    private struct Reading {
        /// By the clock of its machine.
        var stamp: Double
        var real: Double
    }

    private struct Machine {
        let clock: Double
        var known: [Reading?] = [nil, nil, nil]
        var messages: [(at: Double, from: Int, reading: Reading)] = []
        var due: Double?
        var lastQuestion: Double?
        var failureCount = 0
        var answersAt: Double?
        var isAsleep = false
        /// What it may have missed is here from then on.
        var decidesAt = 0.0
    }

    private let settings: AskSettings
    private let failures: Double
    private let sleeps: Bool
    private var machines: [Machine]
    private var generator: SeededGenerator
    private(set) var questions: [Double] = []
    /// The greatest age of what a machine knows while it is awake, once all have numbers.
    private(set) var greatestAge = 0.0

    init(seed: UInt64, failures: Double, sleeps: Bool) {
        var random = SeededGenerator(seed: seed)
        settings = AskSettings(
            every: .random(in: 60...1_500, using: &random), whenOlder: .random(in: 60...1_500, using: &random),
            program: "/codex")!
        self.failures = failures
        self.sleeps = sleeps
        machines = (0..<3).map { _ in Machine(clock: 1e9 + .random(in: 0...59.9, using: &random)) }
        generator = random
    }

    var longest: Double { Double(max(settings.every, settings.whenOlder)) }

    mutating func run(seconds: Int) {
        for second in 0..<seconds {
            let now = Double(second)
            for index in machines.indices {
                live(index, at: now)
                decide(index, at: now)
            }
            guard machines.allSatisfy({ $0.known.contains { $0 != nil } }) else { continue }
            let ages = machines.map { now - ($0.known.compactMap { $0?.real }.max() ?? now) }
            greatestAge = max(greatestAge, ages.max() ?? 0)
        }
    }

    /// What happens without asking: messages, sleep, and somebody who uses the tool.
    private mutating func live(_ index: Int, at now: Double) {
        if sleeps, Int.random(in: 0..<3_600, using: &generator) == 0 {
            machines[index].isAsleep.toggle()
            machines[index].decidesAt = now + 15
            machines[index].due = nil
        }
        guard !machines[index].isAsleep else { return }
        let arrived = machines[index].messages.filter { $0.at <= now }
        machines[index].messages.removeAll { $0.at <= now }
        for message in arrived where (machines[index].known[message.from]?.real ?? -1) < message.reading.real {
            machines[index].known[message.from] = message.reading
            machines[index].due = nil
        }
        if Int.random(in: 0..<7_200, using: &generator) == 0 { push(index, observed: now, at: now) }
    }

    private mutating func push(_ index: Int, observed: Double, at now: Double) {
        let reading = Reading(stamp: machines[index].clock + observed, real: observed)
        for other in machines.indices {
            let delay = other == index ? 0 : Double.random(in: 1...10, using: &generator)
            machines[other].messages.append((now + delay, index, reading))
        }
    }

    private mutating func decide(_ index: Int, at now: Double) {
        if let end = machines[index].answersAt {
            guard end <= now, let question = machines[index].lastQuestion else { return }
            machines[index].answersAt = nil
            if Double.random(in: 0..<1, using: &generator) < failures {
                machines[index].failureCount += 1
            } else {
                machines[index].failureCount = 0
                push(index, observed: question - machines[index].clock, at: now)
            }
            machines[index].due = nil
            return
        }
        let machine = machines[index]
        guard !machine.isAsleep, now >= machine.decidesAt else { return }
        let clock = Date(timeIntervalSince1970: machine.clock + now)
        // Now and then a machine is busy, and begins later.
        let due = machine.due ?? (timing(index, at: clock) - machine.clock)
        machines[index].due = due
        guard now >= due, Int.random(in: 0..<4, using: &generator) == 0 || now >= due + 25 else { return }
        guard timing(index, at: clock) <= machine.clock + now else {
            machines[index].due = nil
            return
        }
        questions.append(now)
        machines[index].lastQuestion = machine.clock + now
        machines[index].answersAt = now + Double.random(in: 1...20, using: &generator)
    }

    private func timing(_ index: Int, at now: Date) -> Double {
        let machine = machines[index]
        let stamps = machine.known.map { $0?.stamp }
        let newest = stamps.compactMap { $0 }.max()
        let supplier = newest.flatMap { newest in stamps.firstIndex { $0 == newest } }
        // A card without numbers has the time of the login.
        let login = Date(timeIntervalSince1970: 1e9 - 5_000)
        let names = ["a", "b", "c"]
        let account = Account(
            machines.indices.map { (names[$0], stamps[$0].map(Date.init(timeIntervalSince1970:)) ?? login, now) },
            supplier: supplier.map { names[$0] })
        var timing = AskTiming(
            settings, account: account.provider(updated: newest.map(Date.init(timeIntervalSince1970:)) ?? login),
            device: names[index], at: now)
        timing.lastQuestion = machine.lastQuestion.map(Date.init(timeIntervalSince1970:))
        timing.failureCount = machine.failureCount
        return timing.due(at: now).timeIntervalSince1970
    }
}

@Suite("When a tool is asked")
struct AskTimingTests {
    @Test("a machine asks when its turn is", arguments: AskTimingCase.all)
    func table(_ sample: AskTimingCase) { sample.check() }

    @Test(
        "three machines never ask within a minute, whoever sleeps, fails or uses the tool",
        arguments: 0..<60 as Range<UInt64>)
    func distance(seed: UInt64) {
        var history = AskHistory(seed: seed, failures: [0, 0.3, 1][Int(seed % 3)], sleeps: seed % 2 == 0)
        history.run(seconds: 6 * 3_600)
        let gaps = zip(history.questions, history.questions.dropFirst()).map { $1 - $0 }
        #expect(history.questions.count > 2 && gaps.allSatisfy { $0 >= 60 }, "seed \(seed): \(gaps.min() ?? 0) s")
    }

    @Test(
        "while nothing fails, no machine's numbers are older than the longer of the two times and a minute",
        arguments: 0..<20 as Range<UInt64>)
    func age(seed: UInt64) {
        var history = AskHistory(seed: seed, failures: 0, sleeps: false)
        history.run(seconds: 6 * 3_600)
        #expect(history.greatestAge > 0 && history.greatestAge <= history.longest + 60, "seed \(seed)")
    }
}
