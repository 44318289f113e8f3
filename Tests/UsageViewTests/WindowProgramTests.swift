import Foundation
import TestSupport
import TerminalText
import Testing

/// Several viewers at once, as programs.
@Suite("Open windows", .temporaryHome, .timeLimit(.minutes(5)))
struct WindowProgramTests {
    /// A viewer of invented data on a terminal of its own.
    private struct Window {
        let terminal: PseudoTerminal
        let program: RunningProgram
        var screen = TerminalScreen(columns: 100, rows: 30) { CellWidth.of($0) }

        init(_ home: TemporaryHome, _ name: String, _ arguments: String...) throws {
            terminal = try PseudoTerminal()
            terminal.resize(columns: 100, rows: 30)
            program = try RunningProgram(
                home, "usage-view", ["--demo", "--watch", "--window", name] + arguments, terminal: terminal)
        }

        mutating func type(_ key: String = "", toSee text: String) async {
            terminal.type(key)
            await terminal.show(on: &screen, until: text)
        }

        mutating func quit() async {
            terminal.type("q")
            #expect(await program.status() == 0)
            terminal.closeBoth()
        }
    }

    @Test("a setting that one window changes is that of all, and nobody writes it again")
    func settings() async throws {
        var home = TemporaryHome.ofTest
        home.variables["TERM"] = "xterm"
        var (a, b) = (try Window(home, "a"), try Window(home, "b"))
        var other = try Window(home, "c", "--left")
        await a.type(toSee: "% used")
        await b.type(toSee: "% used")
        await other.type(toSee: "% left")
        await a.type("u", toSee: "% left")
        await b.type(toSee: "% left")
        await b.type("u", toSee: "% used")
        await a.type(toSee: "% used")

        let path = home.path + "/.local/state/ubiquity/viewer/settings.json"
        func file() throws -> NSNumber? {
            try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber
        }
        let written = try file()
        // A scene is kept, and with it every setting that a window takes for a new one.
        await a.type("6", toSee: "used  (u)")
        await b.type("6", toSee: "used  (u)")
        // What its command line says counts in its window, until its key says something else.
        await other.type("6", toSee: "left  (u)")
        #expect(try written == file())
        await other.type("u", toSee: "used  (u)")
        await other.type("u", toSee: "left  (u)")
        await a.type(toSee: "left  (u)")
        await b.type(toSee: "left  (u)")
        for var window in [a, b, other] { await window.quit() }
    }
}
