import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("What the push loop does next")
struct PushDeciderTests {
    /// An event, and what it leads to.
    private struct Row {
        var at: Int
        var event: PushDecider.Event
        var reports: [PushReport]
        var action: PushDecider.Action

        init(_ at: Int, _ event: PushDecider.Event, _ action: PushDecider.Action) {
            self.init(at, event, [], action)
        }

        init(_ at: Int, _ event: PushDecider.Event, _ reports: [PushReport], _ action: PushDecider.Action) {
            (self.at, self.event, self.reports, self.action) = (at, event, reports, action)
        }
    }

    private static let codex = WatchedPath("/codex")
    private static let claude = WatchedPath("/claude")
    private static let gap = SnapshotBuilder.Gap(providerName: "Codex", reason: "/codex: permission denied")
    private static let some = PlanSimulation.snapshot(percent: 10)
    private static let more = PlanSimulation.snapshot(percent: 20)

    private static func end(
        _ snapshot: SyncedUsageSnapshot? = some, gaps: [SnapshotBuilder.Gap] = [], unfinished: Set<WatchedPath> = [],
        postponed: SnapshotBuilder.Postponed? = nil
    ) -> PushDecider.Event {
        .readEnded(.init(snapshot: snapshot, gaps: gaps, unfinished: unfinished, postponed: postponed))
    }

    private func check(_ rows: [Row], hasCosts: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) {
        var decider = PushDecider(timing: .init(), hasCosts: hasCosts)
        for (number, row) in rows.enumerated() {
            let ready = decider.handle(row.event, at: .seconds(row.at))
            #expect(
                ready == .init(reports: row.reports, action: row.action), "row \(number)",
                sourceLocation: sourceLocation)
        }
    }

    @Test("nothing is read before changes are seen, then everything is read, pushed and waited for")
    func beginning() {
        check([
            Row(0, .asked, .wait(until: nil)),
            Row(0, .degraded("too many files"), [.degraded("too many files")], .wait(until: nil)),
            Row(0, .changed([Self.codex]), .wait(until: nil)),
            Row(0, .started, .readAll),
            Row(0, Self.end(), .push(Self.some, .change)),
            Row(0, .pushEnded(succeeded: true), .wait(until: .seconds(100))),
            Row(50, .changed([Self.codex]), .read(changed: [Self.codex])),
            Row(50, Self.end(Self.more), .push(Self.more, .change)),
            Row(50, .pushEnded(succeeded: false), .wait(until: .seconds(52))),
            Row(52, .asked, .push(Self.more, .change)),
            Row(52, .pushEnded(succeeded: true), .wait(until: .seconds(152))),
            Row(152, .asked, .readAll),
            Row(152, Self.end(Self.more), .push(Self.more, .heartbeat)),
        ])
    }

    @Test("that nothing is known is reported once until something is")
    func empty() {
        check([
            Row(0, .started, .readAll),
            Row(0, Self.end(nil), [.empty], .wait(until: .seconds(100))),
            Row(10, .changed([Self.codex]), .read(changed: [Self.codex])),
            Row(10, Self.end(nil), .wait(until: .seconds(100))),
            Row(20, .changed([Self.codex]), .read(changed: [Self.codex])),
            Row(20, Self.end(), .push(Self.some, .change)),
            Row(20, .pushEnded(succeeded: true), .wait(until: .seconds(120))),
            Row(30, .changed([Self.codex]), .read(changed: [Self.codex])),
            Row(30, Self.end(nil), [.empty], .wait(until: .seconds(120))),
        ])
    }

    @Test("what cannot be read is reported when it changes, and not before a read is complete")
    func gaps() {
        check([
            Row(0, .started, .readAll),
            Row(0, Self.end(nil, gaps: [Self.gap], unfinished: [Self.codex]), [.empty], .read(changed: [Self.codex])),
            Row(0, Self.end(nil, gaps: [Self.gap]), [.incomplete([Self.gap])], .wait(until: .seconds(100))),
            Row(10, .changed([Self.claude]), .read(changed: [Self.claude])),
            Row(10, Self.end(nil, gaps: [Self.gap]), .wait(until: .seconds(100))),
            Row(20, .changed([Self.codex]), .read(changed: [Self.codex])),
            Row(20, Self.end(nil), [.incomplete([])], .wait(until: .seconds(100))),
        ])
    }

    @Test("a read that a limit ended early goes on a limited number of times, and from a change on again")
    func slices() {
        var decider = PushDecider(timing: .init(), hasCosts: false)
        var now = Duration.zero
        func slices(after event: PushDecider.Event) -> Int {
            var action = decider.handle(event, at: now).action
            var count = 0
            while true {
                switch action {
                case .wait(let deadline?) where deadline > now + .seconds(10): return count
                case .wait(let deadline?):
                    now = deadline
                    action = decider.handle(.asked, at: now).action
                default:
                    count += 1
                    action = decider.handle(Self.end(nil, unfinished: [Self.codex]), at: now).action
                }
            }
        }
        #expect(slices(after: .started) == SnapshotBuilder.sliceLimit + 1)
        now = .seconds(50)
        #expect(slices(after: .changed([Self.codex])) == SnapshotBuilder.sliceLimit + 1)
    }

    @Test("what was read a moment ago is read when it may be, together with what changes until then")
    func postponed() {
        let later = SnapshotBuilder.Postponed(paths: [Self.codex], seconds: 2)
        check([
            Row(0, .started, .readAll),
            Row(0, Self.end(nil), [.empty], .wait(until: .seconds(100))),
            Row(10, .changed([Self.codex, Self.claude]), .read(changed: [Self.codex, Self.claude])),
            Row(10, Self.end(nil, unfinished: [Self.codex], postponed: later), .wait(until: .seconds(12))),
            Row(12, .asked, .read(changed: [Self.codex])),
            Row(12, Self.end(nil), .wait(until: .seconds(100))),
        ])
    }

    @Test("costs are updated beside everything, and only the first push waits for them")
    func costs() {
        let updated = PushDecider.Event.costsUpdated(Self.some, gaps: [Self.gap], isPartial: false)
        check(
            [
                Row(0, .started, .readAll),
                Row(0, Self.end(), .updateCosts),
                Row(0, .asked, .wait(until: .seconds(100))),
                Row(1, .costsUpdated(Self.some, gaps: [Self.gap], isPartial: true), .push(Self.some, .change)),
                Row(1, .pushEnded(succeeded: true), .wait(until: .seconds(21))),
                Row(21, .asked, .updateCosts),
                Row(21, updated, [.incomplete([Self.gap])], .wait(until: .seconds(101))),
                Row(22, .costsAsked, .updateCosts),
                Row(22, updated, .wait(until: .seconds(101))),
            ], hasCosts: true)
    }
}
