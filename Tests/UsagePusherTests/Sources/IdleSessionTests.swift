import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Idle sessions")
struct IdleSessionTests {
    private static let old = sampleNow.addingTimeInterval(43_200)
    private static let new = sampleNow.addingTimeInterval(604_740)

    /// Rows of a week: seconds before now, the percent and the reset.
    private func rollout(_ rows: (Double, Int, Date)...) -> String {
        rows.map { age, percent, reset in
            CodexLines.row(
                (sampleNow - age).formatted(.iso8601),
                "{\"primary\":\(CodexLines.window("\(percent)", 10_080, reset))}")
        }.joined()
    }

    private func read(_ rollouts: [String]) throws -> SourceReading {
        let home = try SampleHome()
        for (index, text) in rollouts.enumerated() {
            try home.write(CodexLines.name(index), text)
        }
        var environment = home.environment()
        environment.explains = true
        var source = CodexSource()
        return source.read(in: environment, at: sampleNow)
    }

    private func percents(_ rollouts: String...) throws -> [Double]? {
        let found = try [rollouts, rollouts.reversed()].map {
            try read($0).percents
        }
        #expect(found[0] == found[1], "the order of the files matters")
        return found[0]
    }

    @Test("an old window does not come back from a session that was idle, and explain says so")
    func repetition() throws {
        let reading = try read([
            rollout((14_000, 88, Self.old), (20, 88, Self.old)), rollout((30, 0, Self.new)),
        ])
        #expect(reading.percents == [0])
        #expect(reading.provider?.secondary?.resetsAt == Self.new)
        #expect(
            reading.considered.first?.reason
                == "an idle session's repetition: the window until 2026-09-25T11:59:00Z was seen"
                + " elsewhere at 2026-09-18T11:59:30Z")
    }

    @Test("an old window counts when its own session saw the newer one")
    func sawBoth() throws {
        #expect(try percents(rollout((60, 0, Self.new), (20, 88, Self.old)), rollout((30, 0, Self.new))) == [88])
    }

    @Test("an old window counts when its own session was answered twice since")
    func answeredTwice() throws {
        #expect(try percents(rollout((25, 88, Self.old), (20, 89, Self.old)), rollout((30, 0, Self.new))) == [89])
    }

    @Test("an old window counts when the session that saw the newer one returns to it")
    func witnessReturns() throws {
        #expect(try percents(rollout((20, 88, Self.old)), rollout((30, 0, Self.new), (25, 88, Self.old))) == [88])
    }

    @Test("a reset that moved back by less than half a window counts in every session")
    func smallMove() throws {
        let later = Self.old.addingTimeInterval(2 * 86_400)
        #expect(try percents(rollout((20, 31, Self.old)), rollout((30, 96, later))) == [31])
    }

    @Test("a session that was idle for many rows is read back to the newer window")
    func manyRows() throws {
        let repetitions = (0..<40).map { (Double(29 - $0 / 2), 88, Self.old) }
        let text = repetitions.map { rollout($0) }.joined()
        #expect(try percents(text, rollout((30, 0, Self.new))) == [0])
        #expect(try percents(rollout((100, 0, Self.new)) + text, rollout((30, 0, Self.new))) == [88])
    }

    @Test("a capture of an idle session does not bring an old window back")
    func captures() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        func save(_ session: String, _ percent: Int, _ reset: Date, age: Double) throws -> Double? {
            try store.save(
                statusline: statusline(
                    session: session,
                    "\"seven_day\":{\"used_percentage\":\(percent),"
                        + "\"resets_at\":\(Int(reset.timeIntervalSince1970))}"),
                at: sampleNow - age)
            return try claudeProvider(home).secondary?.usedPercent
        }
        #expect(try save("busy", 0, Self.new, age: 30) == 0)
        #expect(try save("idle", 88, Self.old, age: 20) == 0)
        // It was answered.
        #expect(try save("idle", 89, Self.old, age: 10) == 89)
        #expect(try save("busy", 1, Self.new, age: 9) == 1)
        #expect(try save("idle", 1, Self.new, age: 8) == 1)
        // It has seen the newer window, which was then taken back.
        #expect(try save("idle", 90, Self.old, age: 7) == 90)
    }
}
