import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

/// Sessions of one account that ask a provider, or repeat its last answer, a minute apart.
private struct SimulatedSessions {
    private(set) var readings: [LimitReading] = []
    /// What the provider answers.
    var window = LimitReading.Window(kind: .weekly, usedPercent: 0, resetsAt: sampleNow.addingTimeInterval(604_800))
    private var known: [Int: LimitReading.Window] = [:]
    /// Seconds without any session.
    private var idle = 0.0

    mutating func nextWindow() {
        idle += 6 * 86_400
        window.usedPercent = 0
        window.resetsAt = window.resetsAt?.addingTimeInterval(6 * 86_400)
    }

    /// Uses 1 % and is answered.
    @discardableResult
    mutating func ask(_ session: Int) -> LimitReading {
        window.usedPercent += 1
        known[session] = window
        return state(window, session)
    }

    /// Nil when the session has not been answered yet.
    @discardableResult
    mutating func repeatLast(_ session: Int) -> LimitReading? {
        known[session].map { state($0, session) }
    }

    private mutating func state(_ window: LimitReading.Window, _ session: Int) -> LimitReading {
        let reading = LimitReading(
            limit: "weekly", windows: [window],
            observedAt: sampleNow.addingTimeInterval(idle + Double(readings.count) * 60),
            origin: LimitReading.Origin(path: "/sessions/\(session)", offset: Int64(readings.count), isOfSession: true))
        readings.append(reading)
        return reading
    }

    /// The evidence of all readings, added in any order and in parts.
    func evidence(using generator: inout SeededGenerator) -> Evidence {
        var parts = [Evidence(), Evidence(), Evidence()]
        for reading in (readings + readings.prefix(5)).shuffled(using: &generator) {
            parts[Int.random(in: 0..<3, using: &generator)].add(reading)
        }
        parts[0].merge(parts[1])
        parts[0].merge(parts[2])
        return parts[0]
    }
}

@Suite("Statements of sessions")
struct SessionStatementsTests {
    /// A history of up to 60 steps with new windows, and its last answer.
    private func history(
        repeats: Bool, using generator: inout SeededGenerator
    ) -> (sessions: SimulatedSessions, lastAnswer: LimitReading) {
        var sessions = SimulatedSessions()
        var lastAnswer = sessions.ask(0)
        for _ in 0..<Int.random(in: 1...60, using: &generator) {
            let session = Int.random(in: 0..<6, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: sessions.nextWindow()
            case 1...5 where repeats: sessions.repeatLast(session)
            default: lastAnswer = sessions.ask(session)
            }
        }
        return (sessions, lastAnswer)
    }

    @Test("of sessions that are answered the newest reading counts, in any order of the files")
    func answered() throws {
        for seed in UInt64(1)...300 {
            var generator = SeededGenerator(seed: seed)
            let (sessions, last) = history(repeats: false, using: &generator)
            let evidence = sessions.evidence(using: &generator)
            #expect(evidence.newest("weekly") == last, "seed \(seed)")
            #expect(evidence.repetitions.isEmpty, "seed \(seed)")
            #expect(evidence == sessions.evidence(using: &generator), "seed \(seed)")
        }
    }

    @Test("among repetitions of earlier windows the window of the newest answer counts")
    func repeated() throws {
        var repetitionCount = 0
        for seed in UInt64(1)...300 {
            var generator = SeededGenerator(seed: seed)
            let (sessions, last) = history(repeats: true, using: &generator)
            let evidence = sessions.evidence(using: &generator)
            let shown = try #require(evidence.newest("weekly"))
            #expect(shown.windows[0].resetsAt == last.windows[0].resetsAt, "seed \(seed)")
            #expect(shown.observedAt >= last.observedAt, "seed \(seed)")
            #expect(evidence == sessions.evidence(using: &generator), "seed \(seed)")
            repetitionCount += evidence.repetitions.count
        }
        #expect(repetitionCount > 100)
    }

    @Test("a window that was taken back counts at the latest with a session's second answer")
    func takenBack() throws {
        for seed in UInt64(1)...300 {
            var generator = SeededGenerator(seed: seed)
            var (sessions, last) = history(repeats: true, using: &generator)
            let former = sessions.window
            sessions.nextWindow()
            let witness = last.session == "/sessions/0" ? 1 : 0
            sessions.ask(witness)
            sessions.window = former
            let session = Int.random(in: 0..<8, using: &generator)
            last = sessions.ask(session)
            if session != witness { last = sessions.ask(session) }
            let evidence = sessions.evidence(using: &generator)
            #expect(evidence.newest("weekly") == last, "seed \(seed)")
        }
    }
}
