import ClockZones
import Commands
import Essentials
import Foundation
import SnapshotModels
import StoreTestSupport
import TerminalText
import Testing

@testable import UsageState
@testable import usage_view

/// What is asked of every screen: am I fine, and if not, what ends first?
@Suite("At a glance")
struct GlanceTests {
    /// Accounts of a few tools, with windows of every kind and age.
    private static func accounts(_ random: inout SeededGenerator, count: Int) -> [ProviderUsageSnapshot] {
        (0..<count).map { index in
            let tool = Int.random(in: 0..<max(1, count / 2), using: &random)
            let isError = Int.random(in: 0..<12, using: &random) == 0
            let age: Double = [0, 0, 0, 10, 30, 90, 300, -30][Int.random(in: 0..<8, using: &random)]
            let windows: [SyncRateWindow] = (0..<(isError ? 0 : Int.random(in: 0...4, using: &random))).map { number in
                let minutes: Int? = [nil, 300, 1_440, 10_080, 43_200][Int.random(in: 0..<5, using: &random)]
                let edges: [Double] = [0, 3, 50, 74.9, 75, 89.9, 90, 99, 100, 105]
                let index = Int.random(in: 0..<20, using: &random)
                let used = index < edges.count ? edges[index] : Double.random(in: 0...100, using: &random)
                let untilReset = 60 * Double.random(in: -60...Double(minutes ?? 600), using: &random)
                return SyncRateWindow(
                    usedPercent: used, windowMinutes: minutes,
                    resetsAt: index == 7 ? nil : Sample.now.addingTimeInterval(untilReset),
                    label: number > 1 ? ["Opus", "Fable weekly", "モデル", "a\u{1B}[31mb"][number % 4] : nil,
                    observedAt: index < 14 ? nil : Sample.now.addingTimeInterval(Double(-index * 8 * 60)))
            }
            return ProviderUsageSnapshot(
                providerID: "tool-\(tool)", providerName: "Tool \(tool)",
                accountEmail: index % 3 == 0 ? nil : "someone-\(index)@example.test",
                statusMessage: isError ? "cannot be read" : nil, isError: isError,
                lastUpdated: Sample.now.addingTimeInterval(-age * 60), rateWindows: windows)
        }
    }

    private static func model(
        seed: UInt64, count: Int, _ options: ViewOptions = ViewOptions(), minutesLater: Double = 0,
        keeping order: UsageOrder? = nil
    ) -> ViewModel {
        var random = SeededGenerator(seed: seed)
        let now = Sample.now.addingTimeInterval(minutesLater * 60)
        let snapshot = SyncedUsageSnapshot(
            providers: accounts(&random, count: count), syncTimestamp: Sample.now, deviceName: "box", deviceID: "1")
        return ViewModel(
            data: UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: Sample.now))),
            now: now, zone: .fixed(secondsFromGMT: 0), options: options, keeping: order)
    }

    /// Claude as it was some time ago, beside Codex as it is now.
    private static func beside(
        used: Double?, hoursAgo: Double, pushedHoursAgo: Double = 0, resetsInHours: Double = 70
    ) -> ViewModel {
        func time(_ hours: Double) -> Date { Sample.now.addingTimeInterval(hours * 3_600) }
        func card(
            _ id: String, _ name: String, _ used: Double?, _ hoursAgo: Double, resetsInHours: Double
        ) -> ProviderUsageSnapshot {
            ProviderUsageSnapshot(
                providerID: id, providerName: name, statusMessage: used == nil ? "permission denied" : nil,
                isError: used == nil, lastUpdated: time(-hoursAgo),
                rateWindows: used.map {
                    [SyncRateWindow(usedPercent: $0, windowMinutes: 10_080, resetsAt: time(resetsInHours))]
                })
        }
        let snapshots = [
            SyncedUsageSnapshot(
                providers: [card("claude", "Claude", used, hoursAgo, resetsInHours: resetsInHours)],
                syncTimestamp: time(-pushedHoursAgo),
                deviceName: "desk"),
            SyncedUsageSnapshot(
                providers: [card("codex", "Codex", 10, 0, resetsInHours: 70)], syncTimestamp: Sample.now,
                deviceName: "lap"),
        ]
        return ViewModel(
            data: UsageData(link: .online, stored: .usage(SnapshotMerge.merge(snapshots, now: Sample.now))),
            now: Sample.now, zone: .fixed(secondsFromGMT: 0))
    }

    @Test("use only grows until its reset: an old number that was critical still is, and others are said to be unknown")
    func oldNumbers() {
        let table: [(model: ViewModel, answer: String, line: String, check: UsageGate.Outcome)] = [
            (
                Self.beside(used: 100, hoursAgo: 2), "1 of 2 limits needs you · Claude weekly used up · resets Mon",
                "!! Claude 7d ~100 % used (2 h ago)", .over
            ),
            (
                Self.beside(used: 93, hoursAgo: 30),
                "1 of 2 limits needs you · Claude weekly at least 93 % · may have run out, resets Mon",
                "!! Claude 7d ~93 % used", .over
            ),
            (Self.beside(used: 85, hoursAgo: 2), "All fine · next: Codex weekly 10 %", "Codex 7d 10 % used", .over),
            (Self.beside(used: 40, hoursAgo: 2), "All fine · next: Codex weekly 10 %", "Codex 7d 10 % used", .safe),
            (
                Self.beside(used: 40, hoursAgo: 2, pushedHoursAgo: 2),
                "Fine as far as known · Claude unknown since 10:00 · next: Codex weekly 10 %", "Codex 7d 10 % used",
                .safe
            ),
            (
                Self.beside(used: nil, hoursAgo: 0),
                "Fine as far as known · Claude unreadable · next: Codex weekly 10 %", "Codex 7d 10 % used", .safe
            ),
            (
                Self.beside(used: 100, hoursAgo: 2, resetsInHours: -1), "All fine · next: Codex weekly 10 %",
                "Codex 7d 10 % used", .safe
            ),
        ]
        for (model, answer, line, check) in table {
            let shown = UsageAnswer(model).forms[0].text(model.times)
            #expect(shown.hasPrefix(answer), "\(shown)")
            let status = StatusText(line: UsageLine(model), measure: .used, times: model.times).styled.plainText
            #expect(status.hasPrefix(line), "\(status)")
            #expect(UsageGate(model, selection: UsageSelection(), maxPercent: 80).outcome == check)
        }
    }

    private func text(_ screen: Screen) -> String { screen.text(isColored: false) }

    @Test("what ends first is first in every order, and all screens name the same", arguments: 0..<60 as Range<UInt64>)
    func first(seed: UInt64) throws {
        let model = Self.model(seed: seed, count: 1 + Int(seed % 9))
        let items = model.providers.flatMap { $0.items(at: model.now) }
        let first = try #require(UsageItem.mostUrgent(of: items, at: model.now))
        #expect(model.providers[0].id == first.provider.id)
        let urgent = items.compactMap(\.urgency).max()
        #expect(first.urgency == urgent)
        if let urgent { #expect(items.filter { $0.urgency == urgent }.count > 0) }
        // Accounts of one tool are together.
        let tools = model.providers.map(\.snapshot.providerID)
        #expect(zip(tools, tools.dropFirst()).filter { $0 != $1 }.count == Set(tools).count - 1)
        #expect(UsageLine(model).items == [first])
        let answer = UsageAnswer(model).forms.map { $0.text(model.times) }
        #expect(answer.allSatisfy { !$0.isEmpty && !$0.contains("\u{1B}") })
        let needing = items.filter { $0.urgency?.needsAttention ?? false }.count
        #expect((needing > 0) == (answer[0].contains(" you · ")), "\(answer)")
        if answer[0].hasSuffix(", lasts") {
            #expect(first.window?.pace?.runsOutAt == nil && first.window?.pace != nil)
        }
        if first.condition.isKnown {
            #expect(answer[0].contains(VisibleText.escape(first.provider.snapshot.providerName)))
        }
        for columns in [40, 80, 120, 200] {
            let lines = ScreenLayout.screen(for: model, size: ScreenSize(columns: columns, rows: 24)).map(\.plainText)
            let name = VisibleText.escape(first.provider.snapshot.providerName)
            #expect(answer.contains { lines[0] == $0 } || lines[0].hasSuffix("…"), "\(lines[0])")
            #expect(lines.dropFirst().first { !$0.isEmpty }?.hasPrefix(name) == true, "\(lines)")
        }
    }

    @Test(
        "an order that is looked at stays until an account is more or less urgent", arguments: 0..<40 as Range<UInt64>)
    func order(seed: UInt64) {
        var former = Self.model(seed: seed, count: 7)
        for minutes in stride(from: 5.0, to: 300, by: 5) {
            let next = Self.model(seed: seed, count: 7, minutesLater: minutes, keeping: former.order)
            let anew = Self.model(seed: seed, count: 7, minutesLater: minutes)
            let urgencies = { (model: ViewModel) in
                Dictionary(
                    uniqueKeysWithValues: model.providers.map { provider in
                        let first = provider.items(at: model.now)[0]
                        return (
                            provider.id,
                            "\(first.condition.isKnown) \(first.condition.hasPercent) \(first.levelName) \(first.urgency?.rawValue ?? "")"
                        )
                    })
            }
            let expected = urgencies(former) == urgencies(next) ? former : anew
            if urgencies(former) == urgencies(next) || next.providers.map(\.id) != former.providers.map(\.id) {
                #expect(next.providers.map(\.id) == expected.providers.map(\.id), "after \(minutes) min")
            }
            former = next
        }
    }

    @Test(
        "what has moved is marked for a moment, and all others are in the order that they had",
        arguments: 0..<12 as Range<UInt64>)
    func moves(seed: UInt64) throws {
        var former = Self.model(seed: seed, count: 7)
        for minutes in stride(from: 5.0, to: 300, by: 5) {
            let next = Self.model(seed: seed, count: 7, minutesLater: minutes, keeping: former.order)
            let moves = try #require(next.order).moves
            let (before, after) = (former.providers.map(\.id), next.providers.map(\.id))
            #expect(before.filter { moves[$0] == nil } == after.filter { moves[$0] == nil })
            former = next
            guard !moves.isEmpty else { continue }
            for (id, places) in moves {
                #expect(after.firstIndex(of: id) == before.firstIndex(of: id).map { $0 + places })
            }
            let marked = { (model: ViewModel) -> [String] in
                let live = LiveModel(
                    LiveData(usage: model.data), now: model.now, zone: model.zone, options: model.options,
                    keeping: next.order)
                return UsageSection.listing(live, width: 60).items.filter { $0.sign != " " }.map(\.id).sorted()
            }
            for (seconds, expected) in [(4.0, moves.keys.sorted()), (6, [])] {
                let later = Self.model(seed: seed, count: 7, minutesLater: minutes + seconds / 60)
                // Another one may move in these seconds.
                guard UsageOrder(next.providers, at: next.now) == UsageOrder(next.providers, at: later.now) else {
                    continue
                }
                #expect(marked(later) == expected)
            }
        }
    }

    @Test("of two that change places, the one that has become urgent is marked, on its first line")
    func risen() throws {
        func model(_ used: [Double], keeping order: UsageOrder?) -> LiveModel {
            let providers = zip(["a", "b", "c"], used).map { name, used in
                ProviderUsageSnapshot(
                    providerID: name, providerName: "Tool " + name, lastUpdated: Sample.now,
                    rateWindows: [Self.window(used, 10_080, resetsIn: 10)])
            }
            let snapshot = SyncedUsageSnapshot(providers: providers, syncTimestamp: Sample.now, deviceName: "box")
            return LiveModel(
                LiveData(
                    usage: UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: Sample.now)))),
                now: Sample.now, zone: .fixed(secondsFromGMT: 0), options: ViewOptions(), keeping: order)
        }
        let former = model([93, 20, 10], keeping: nil)
        let next = model([93, 20, 95], keeping: former.usage.order)
        #expect(next.usage.order?.moves == ["c\t": -2])
        #expect(next.usage.nextChange == Sample.now.addingTimeInterval(5.001))
        let rows = LiveScreen.drawing(for: next, state: LiveState(), size: ScreenSize(columns: 80, rows: 24)).screen
            .map(\.plainText)
        #expect(rows.filter { $0.contains("↑") }.count == 1)
        #expect(rows.contains { $0.contains("▌↑Tool c") }, "\(rows)")
        #expect(
            model([96, 20, 95], keeping: next.usage.order).usage.order?.moves == ["c\t": -2], "nothing else has moved")
    }

    @Test("a later answer is the one that was foretold, without newer data", arguments: 0..<40 as Range<UInt64>)
    func foretold(seed: UInt64) {
        let model = Self.model(seed: seed, count: 6)
        let byTime = UsageAnswer.byTime(model, of: model.providers, measure: .used)
        for minutes in stride(from: 0.0, to: 500, by: 7) {
            let later = Self.model(seed: seed, count: 6, minutesLater: minutes)
            #expect(byTime.value(at: later.now) == UsageAnswer(later), "after \(minutes) min")
            for (provider, now) in zip(
                model.providers.sorted { $0.id < $1.id }, later.providers.sorted { $0.id < $1.id })
            {
                #expect(provider.firstByTime.value(at: later.now).rank == now.rank(at: later.now))
            }
        }
    }

    @Test("no line is too wide, and none loses a window, a percentage or a reset", arguments: 0..<40 as Range<UInt64>)
    func columns(seed: UInt64) {
        let model = Self.model(seed: seed, count: 8, ViewOptions())
        let counts = Dictionary(grouping: model.providers, by: \.snapshot.providerID).mapValues(\.count)
        let cards = model.providers.map {
            ProviderCard($0, model: model, isShared: counts[$0.snapshot.providerID, default: 0] > 1)
        }
        for width in [30, 34, 38, 45, 52, 60, 72, 80, 90] {
            let tables = ProviderCard.Tables(fitting: cards, width: width)
            for (card, provider) in zip(cards, model.providers) {
                for form in UsageDensity.allCases {
                    let lines = card.lines(form, tables, width: width)
                    #expect(lines.allSatisfy { $0.cells <= width }, "\(width): \(lines.map(\.plainText))")
                    guard form != .row, width >= 38 else { continue }
                    let text = lines.map(\.plainText).joined(separator: "\n")
                    for window in provider.windows where !window.isExpired {
                        let percent = AmountFormatter.percent(window.window.usedPercent)
                        #expect(text.contains(percent), "\(width): \(percent) in \(text)")
                        if let reset = window.window.resetsAt {
                            let countdown = DurationFormatter.countdown(to: reset, from: model.now)
                            #expect(text.contains(countdown), "\(width): \(countdown) in \(text)")
                        }
                    }
                }
            }
        }
    }

    @Test("everything fits before anything scrolls, and what needs somebody is larger")
    func density() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<400 {
            let accounts = (0..<Int.random(in: 1...40, using: &random)).map { _ -> UsageDensity.Account in
                let windows = 1 + Int.random(in: 1...4, using: &random)
                return (
                    heights: [.row: 1, .windows: windows, .card: windows + Int.random(in: 0...5, using: &random)],
                    needsAttention: Int.random(in: 0..<4, using: &random) == 0
                )
            }
            let (columns, rows) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...60, using: &random))
            func height(_ forms: [UsageDensity]) -> Int {
                MasonryLayout(
                    zip(accounts, forms).map { (height: $0.heights[$1] ?? 0, isSpaced: $1 == .card) },
                    columns: columns
                ).height
            }
            let forms = UsageDensity.forms(of: accounts, columns: columns, rows: rows)
            let least = accounts.map { _ in UsageDensity.row }
            #expect(height(forms) <= rows || forms == least)
            let quiet = zip(accounts, forms).filter { !$0.0.needsAttention }.map(\.1)
            #expect(Set(quiet).count <= 1, "those that need nobody have one form")
            for larger in UsageDensity.allCases where quiet.first.map({ larger > $0 }) ?? false {
                #expect(height(accounts.map { _ in larger }) > rows, "a larger one would fit")
            }
        }
    }

    @Test(
        "a terminal of 80 × 24 shows ten accounts, one of 40 × 12 five, with percentage and reset",
        arguments: [(80, 24, 10), (40, 12, 5)])
    func capacity(columns: Int, rows: Int, count: Int) throws {
        let providers = (0..<count).map { index in
            ProviderUsageSnapshot(
                providerID: "t\(index)", providerName: "Assistant \(index)", lastUpdated: Sample.now,
                rateWindows: [10, 20 + Double(index)].map {
                    SyncRateWindow(
                        usedPercent: $0, windowMinutes: $0 == 10 ? 300 : 10_080,
                        resetsAt: Sample.now.addingTimeInterval(7_200 + 60 * Double(index)))
                })
        }
        let snapshot = SyncedUsageSnapshot(providers: providers, syncTimestamp: Sample.now, deviceName: "box")
        let data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: Sample.now)))
        let model = ViewModel(data: data, now: Sample.now, zone: .fixed(secondsFromGMT: 0))
        let lines = ScreenLayout.screen(for: model, size: ScreenSize(columns: columns, rows: rows)).map(\.plainText)
        #expect(lines.count <= rows)
        let live = LiveScreen.drawing(
            for: LiveModel(
                LiveData(usage: data), now: Sample.now, zone: .fixed(secondsFromGMT: 0), options: ViewOptions()),
            state: LiveState(), size: ScreenSize(columns: columns, rows: rows)
        ).screen.map(\.plainText)
        for (index, screen) in [lines, live].enumerated() {
            for number in 0..<count {
                let line = screen.dropFirst().first { $0.contains("\(20 + number) %") }
                #expect(line?.contains(number == 0 ? "2h" : "2h \(number)m") == true, "\(index): \(screen)")
            }
        }
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let windows: [SyncRateWindow]
        var ageMinutes = 0.0
        let answer: String
    }

    private static func window(_ used: Double, _ minutes: Int?, resetsIn hours: Double?, _ label: String? = nil)
        -> SyncRateWindow
    {
        SyncRateWindow(
            usedPercent: used, windowMinutes: minutes,
            resetsAt: hours.map { Sample.now.addingTimeInterval($0 * 3_600) },
            label: label)
    }

    static let cases = [
        Case(
            testDescription: "all fine", windows: [window(20, 300, resetsIn: 2), window(81, 10_080, resetsIn: 10)],
            answer: "All fine · next: X weekly 81 %, lasts"),
        Case(
            testDescription: "all fine, but not until the reset", windows: [window(52, 300, resetsIn: 2.45)],
            answer: "All fine · next: X 5h 52 %, resets 14:27"),
        Case(
            testDescription: "nearly used up",
            windows: [window(20, 300, resetsIn: 2), window(93, 10_080, resetsIn: 10)],
            answer: "1 of 2 limits needs you · X weekly 93 % · resets 22:00"),
        Case(
            testDescription: "runs out by pace",
            windows: [window(60, 300, resetsIn: 3), window(20, 10_080, resetsIn: 80)],
            answer: "1 of 2 limits needs you · X 5h 60 % · out 13:20, resets 15:00"),
        Case(
            testDescription: "used up", windows: [window(100, 300, resetsIn: 3)],
            answer: "1 limit needs you · X 5h used up · resets 15:00"),
        Case(
            testDescription: "stale", windows: [window(60, 300, resetsIn: 3)], ageMinutes: 61,
            answer: "Stale since 10:59 · X 5h was 60 %"),
        Case(
            testDescription: "reset since", windows: [window(60, 300, resetsIn: -1)],
            answer: "X 5h reset 1 h ago, no newer data"),
        Case(
            testDescription: "without times", windows: [window(40, nil, resetsIn: nil, "Opus")],
            answer: "All fine · next: X Opus 40 %"),
        Case(testDescription: "without limits", windows: [], answer: "No limits reported · X read just now"),
    ]

    @Test("the answer says what ends first, when, and when it is reset", arguments: cases)
    func answer(shown: Case) {
        let provider = ProviderUsageSnapshot(
            providerID: "x", providerName: "X", lastUpdated: Sample.now.addingTimeInterval(-shown.ageMinutes * 60),
            rateWindows: shown.windows)
        let snapshot = SyncedUsageSnapshot(providers: [provider], syncTimestamp: Sample.now, deviceName: "box")
        let model = ViewModel(
            data: UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: Sample.now))),
            now: Sample.now, zone: .fixed(secondsFromGMT: 0))
        #expect(UsageAnswer(model).forms.first?.text(model.times) == shown.answer)
    }
}
