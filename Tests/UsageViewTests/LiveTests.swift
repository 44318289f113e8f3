import Foundation
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The live screen")
struct LiveTests {
    @Test("keys change the options, scroll within the content, and quit")
    func state() {
        var state = LiveState(options: ViewOptions())
        state.fit(contentLines: 30, rows: 20)
        func press(_ key: Key) -> LiveState.Outcome { state.handle(key) }
        #expect(press(.character("u")) == .redraw && state.options.measure == .left)
        #expect(press(.character("a")) == .redraw && state.options.isAbsolute)
        #expect(press(.character("s")) == .redraw && state.options.sortOrder == .tightest)
        #expect(press(.character("?")) == .redraw && state.isHelpShown)
        #expect(press(.escape) == .redraw && !state.isHelpShown)
        #expect(press(.escape) == .nothing)
        #expect(press(.up) == .nothing)
        #expect(press(.end) == .redraw && state.firstLine == 10)
        #expect(press(.down) == .nothing)
        #expect(press(.pageUp) == .redraw && state.firstLine == 0)
        #expect(press(.character("x")) == .nothing)
        #expect(press(.character("q")) == .quit && press(.interrupt) == .quit)
    }

    @Test("the live screen scrolls and shows its keys", arguments: [0, 30])
    func screen(scroll: Int) throws {
        let model = try Sample.model("busy-box", "busy-laptop")
        var state = LiveState(options: model.options)
        state.fit(contentLines: 45, rows: 23)
        for _ in 0..<scroll { _ = state.handle(.down) }
        let size = ScreenSize(columns: 80, rows: 24)
        let screen = LiveScreen.screen(for: model, state: &state, size: size)
        #expect(screen.count == 24)
        try StoredScreens.expect(
            screen.text(isColored: false), equals: "live-80x24-from-\(scroll)")
    }

    @Test("the help fits a small screen")
    func help() throws {
        let model = try Sample.model("busy-box")
        var state = LiveState(options: model.options)
        _ = state.handle(.character("?"))
        let screen = LiveScreen.screen(
            for: model, state: &state, size: ScreenSize(columns: 60, rows: 14))
        try StoredScreens.expect(screen.text(isColored: false), equals: "live-help-60x14")
    }
}
