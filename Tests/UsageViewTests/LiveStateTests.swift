import Foundation
import StoreTestSupport
import SnapshotModels
import Commands
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The state of a window")
struct LiveStateTests {
    private static let size = ScreenSize(columns: 80, rows: 24)

    private func text(_ model: LiveModel, _ state: LiveState, _ size: ScreenSize) -> String {
        LiveScreen.drawing(for: model, state: state, size: size).screen.text(isColored: false)
    }

    @Test("keys change sections, options and what is open")
    func keys() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        func press(_ keys: Key...) -> LiveState.Outcome { state.press(keys, model, Self.size) }
        #expect(press(.character("u")) == .redraw && state.settings.measure == .left)
        #expect(press(.character("a")) == .redraw && state.settings.isAbsolute)
        #expect(press(.character("s")) == .redraw && state.scene.sortOrder == .name)
        #expect(state.settings.sortOrder == .tightest, "the order of other windows")
        #expect(press(.enter) == .redraw && state.scene.isDetailOpen)
        #expect(press(.escape) == .redraw && !state.scene.isDetailOpen)
        #expect(press(.escape) == .nothing)
        #expect(press(.character("5")) == .redraw && state.scene.section == .keys)
        #expect(press(.tab) == .redraw && state.scene.section == .settings)
        #expect(press(.backTab, .backTab) == .redraw && state.scene.section == .devices)
        #expect(press(.character("?")) == .redraw && state.dialog?.kind == .help)
        #expect(press(.escape) == .redraw && state.dialog == nil)
        #expect(press(.character("z")) == .nothing)
        #expect(press(.character("q")) == .quit && press(.interrupt) == .quit)
    }

    @Test("the selection follows its account when the order changes")
    func selection() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        _ = state.press([.down, .down], model, Self.size)
        let chosen = state.scene.position.selection
        #expect(chosen?.hasPrefix("codex\tteam") == true)
        _ = state.press([.character("s"), .character("5"), .character("1")], model, Self.size)
        #expect(state.scene.position.selection == chosen)
        _ = state.press([.end, .down], model, Self.size)
        #expect(state.scene.position.selection != chosen)
    }

    @Test(
        "every setting changes the screen or says why it does not, and the key of the sidebar always does",
        arguments: [60, 80, 99, 100, 150], ViewSettings.Navigation.allCases)
    func effects(columns: Int, navigation: ViewSettings.Navigation) throws {
        let model = try LiveSample.busy()
        let size = ScreenSize(columns: columns, rows: 40)
        func drawn(_ state: LiveState) -> String {
            let shown = LiveModel(model.data, now: model.usage.now, zone: model.usage.zone, options: state.options)
            return LiveScreen.drawing(for: shown, state: state, size: size).screen.text(isColored: true)
        }
        var list = LiveState()
        list.settings.navigation = navigation
        list.scene.section = .settings
        let listed = text(model, list, size).split(separator: "\n")
        for (index, command) in SettingsSection.commands.enumerated() {
            var state = list
            var screens: Set<String> = []
            for _ in 0..<3 {
                _ = state.press([.home] + Array(repeating: .down, count: index), model, size)
                _ = state.press([.enter], model, size)
                var usage = state
                usage.scene.section = .usage
                usage.scene.sortOrder = nil
                screens.insert(drawn(usage))
            }
            let line = try #require(listed.first { $0.contains("(\(command.keyText))") })
            let says = ["beside a sidebar", "as the layout says"].contains { line.contains($0) }
            #expect(says == (screens.count == 1), "\(command) \(line)")
        }
        var state = LiveState()
        state.settings.navigation = navigation
        let before = drawn(state)
        #expect(state.press([.character("\\")], model, size) == .redraw && drawn(state) != before)
        let hidden = drawn(state)
        #expect(state.press([.character("\\")], model, size) == .redraw && drawn(state) != hidden)
    }

    @Test("a setting is changed where it is listed, and the sort there is everyone's")
    func settings() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        _ = state.press([.character("s"), .character("6"), .down, .down, .enter], model, Self.size)
        #expect(state.settings.sortOrder == .name && state.scene.sortOrder == nil)
        _ = state.press([.end, .enter], model, Self.size)
        #expect(state.settings.theme == .dark)
    }

    @Test("a slash filters the section, a second one searches everything")
    func search() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        state.type("/opencode", model, Self.size)
        #expect(state.isSearching && state.scene.position.query == "opencode")
        let filtered = text(model, state, Self.size)
        #expect(filtered.contains("OpenCode Go") && !filtered.contains("Gemini"))
        _ = state.press([.backspace, .enter, .enter], model, Self.size)
        #expect(state.scene.isDetailOpen && text(model, state, Self.size).contains("OpenCode"))
        _ = state.press([.escape, .escape], model, Self.size)
        #expect(state.scene.position.query.isEmpty)
        state.type("//hello", model, Self.size)
        #expect(state.dialog?.kind == .searchAll && text(model, state, Self.size).contains("Keys"))
        _ = state.press([.enter], model, Self.size)
        #expect(state.scene.section == .keys && state.scene.position.selection == "greeting")
        state.type("//nobody has this", model, Self.size)
        #expect(text(model, state, Self.size).contains("nothing contains that"))
    }

    @Test("every command is in the command list, and enter runs it")
    func commands() throws {
        let model = try LiveSample.busy()
        for command in Command.allCases where command != .quit {
            #expect(Command.matching(command.title).contains(command))
        }
        var state = LiveState()
        state.type(":clock", model, Self.size)
        #expect(state.press([.enter], model, Self.size) == .redraw)
        #expect(state.settings.isAbsolute && state.dialog == nil)
        _ = state.press([.control("p")], model, Self.size)
        state.type("quit", model, Self.size)
        #expect(state.press([.enter], model, Self.size) == .quit)
    }

    @Test("the keys of commands differ, and lead to them")
    func commandKeys() {
        let single = Command.allCases.filter { $0.keyText.count == 1 }
        #expect(Set(single.map(\.keyText)).count == single.count)
        for command in single { #expect(Command(.character(Character(command.keyText))) == command) }
    }

    @Test("a click selects, a second one opens, one on a tab changes the section")
    func clicks() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        func click(_ text: String) {
            let screen = LiveScreen.drawing(for: model, state: state, size: Self.size).screen
            let row = screen.firstIndex { $0.plainText.contains(text) } ?? 0
            let start = screen[row].plainText.range(of: text)?.lowerBound
            let column = start.map { CellWidth.of(screen[row].plainText[..<$0]) } ?? 0
            _ = state.press([.mouse(MouseEvent(action: .press, column: column, row: row))], model, Self.size)
        }
        click("as of 38 min")
        #expect(state.scene.position.selection == "codex\tdev@example.test")
        #expect(!state.scene.isDetailOpen)
        click("as of 38 min")
        #expect(state.scene.isDetailOpen)
        click("Devices")
        #expect(state.scene.section == .devices)
        _ = state.press([.mouse(MouseEvent(action: .wheelDown, column: 1, row: 1))], model, Self.size)
        #expect(state.scene.position.selection?.hasPrefix("2222") == true)
    }

    @Test("resizes change nothing of a window", arguments: 1...4 as ClosedRange<UInt64>)
    func resizes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let model = try LiveSample.busy()
        let keys: [Key] = [
            .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .escape, .tab,
            .backTab, .character("/"), .character("x"), .character("u"), .character("v"),
            .character("\\"), .character(":"), .character("2"), .character("4"), .backspace,
        ]
        var state = LiveState()
        for _ in 0..<60 {
            let size = ScreenSize(
                columns: Int.random(in: 20...320, using: &random), rows: Int.random(in: 10...60, using: &random))
            let key = keys.randomElement(using: &random) ?? .down
            guard state.press([key], model, size) != .quit else { continue }
            let (before, screen) = (state, text(model, state, size))
            for _ in 0..<3 {
                let other = ScreenSize(
                    columns: Int.random(in: 1...320, using: &random), rows: Int.random(in: 1...60, using: &random))
                _ = LiveScreen.drawing(for: model, state: state, size: other)
            }
            #expect(state == before && text(model, state, size) == screen, "seed \(seed)")
            let stored = try JSONDecoder().decode(Scene.self, from: JSONEncoder().encode(state.scene))
            #expect(stored == state.scene, "seed \(seed)")
        }
    }

    @Test("scrolling ends at the ends of a detail")
    func scrolling() throws {
        let model = try LiveSample.busy()
        var state = LiveState()
        let size = ScreenSize(columns: 80, rows: 14)
        _ = state.press([.enter, .end], model, size)
        let last = state.scene.position.firstDetailLine
        #expect(last > 0)
        #expect(state.press([.down], model, size) == .nothing)
        _ = state.press([.home, .up], model, size)
        #expect(state.scene.position.firstDetailLine == 0)
    }
}
