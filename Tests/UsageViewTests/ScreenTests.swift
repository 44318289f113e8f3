import Foundation
import SnapshotModels
import Commands
import TerminalText
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("Screens")
struct ScreenTests {
    static let widths = [30, 60, 80, 120]

    func draw(_ model: ViewModel, _ columns: Int, rows: Int? = nil) -> Screen {
        let screen = ScreenLayout.screen(for: model, size: ScreenSize(columns: columns, rows: rows))
        for line in screen { #expect(line.cells <= columns, "too wide for \(columns): \(line.plainText)") }
        return screen
    }

    @Test(
        "every sample document has a stored screen per width",
        arguments: ["v0-first", "v0-doc-nulls", "v1-march-2026", "hostile-text"], widths)
    func samples(document: String, columns: Int) throws {
        let screen = draw(try Sample.model(document), columns)
        try Repository.expectScreen(screen.text(isColored: false), equals: "\(document)-\(columns)")
    }

    @Test("two devices with all kinds of rows have a stored screen per width", arguments: widths + [45, 160])
    func busy(columns: Int) throws {
        let model = try Sample.model("busy-box", "busy-laptop")
        try Repository.expectScreen(draw(model, columns).text(isColored: false), equals: "busy-\(columns)")
    }

    @Test("all options combine: left, clock times, tightest first, ASCII")
    func options() throws {
        let options = ViewOptions(measure: .left, isAbsolute: true, sortOrder: .tightest, isUnicode: false)
        let model = try Sample.model("busy-box", "busy-laptop", options: options)
        let screen = draw(model, 80)
        #expect(screen.text(isColored: false).utf8.allSatisfy { $0 < 0x80 })
        try Repository.expectScreen(screen.text(isColored: false), equals: "options-left-absolute-tightest-ascii")
    }

    @Test("color only adds style sequences to the text")
    func colour() throws {
        let model = try Sample.model("busy-box")
        let screen = draw(model, 80)
        let coloured = screen.map { ANSI.render($0, isColored: true) }
        try Repository.expectScreen(
            coloured.joined(separator: "\n").replacing("\u{1B}", with: "^[") + "\n", equals: "busy-box-coloured")
    }

    @Test("three hours after the last push an offline viewer shows stale numbers")
    func stale() throws {
        let model = try Sample.model("busy-box", link: .offline(lastSeen: Sample.now), minutesLater: 180)
        try Repository.expectScreen(draw(model, 80).text(isColored: false), equals: "stale-offline-80")
    }

    @Test("a viewer whose clock is behind reports the clocks")
    func clockAhead() throws {
        let model = try Sample.model("v1-march-2026", minutesLater: -90)
        try Repository.expectScreen(draw(model, 80).text(isColored: false), equals: "clock-ahead-80")
    }

    @Test("a low pane shows the most urgent window of each account", arguments: [24, 12, 6])
    func low(rows: Int) throws {
        let model = try Sample.model("busy-box", "busy-laptop")
        let screen = draw(model, 60, rows: rows)
        try Repository.expectScreen(screen.text(isColored: false), equals: "busy-60x\(rows)")
    }

    @Test("every empty state names the next step", arguments: [30, 80])
    func nothing(columns: Int) throws {
        let empty = SyncedUsageSnapshot(
            providers: [], syncTimestamp: Sample.now.addingTimeInterval(-120), deviceName: "box")
        let models = [
            Sample.model(stored: .nothing, link: .notJoined),
            Sample.model(stored: .nothing, link: .online),
            Sample.model(stored: .nothing, link: .offline(lastSeen: nil)),
            Sample.model(stored: .nothing, link: .offline(lastSeen: Sample.now.addingTimeInterval(-7_200))),
            Sample.model(stored: .usage(SnapshotMerge.merge([empty], now: Sample.now))),
            Sample.model(stored: .unreadable(reason: "it is not UTF-8 text\u{1B}[2J")),
        ]
        let text = models.map { draw($0, columns).text(isColored: false) }.joined(separator: "\n")
        try Repository.expectScreen(text, equals: "nothing-\(columns)")
    }

    @Test(
        "no screen is too wide, and one that is too high ends with the answer too",
        arguments: ["busy-box", "hostile-text"])
    func everySize(document: String) throws {
        let model = try Sample.model(document)
        for columns in 0...200 {
            _ = draw(model, columns)
            for rows in [0, 1, 2, 9, 10, 11] {
                let screen = draw(model, columns, rows: rows)
                #expect(screen.count <= rows || screen.first == screen.last)
            }
        }
    }
}
