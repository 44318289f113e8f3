import Commands
import Foundation
import TestSupport
import TerminalText
import Testing

@Suite("The terminal", .serialized, .timeLimit(.minutes(5)))
struct TerminalSessionTests {
    private static func screen(columns: Int = 80, rows: Int = 24) -> TerminalScreen {
        TerminalScreen(columns: columns, rows: rows) { CellWidth.of($0) }
    }

    @Test("a session takes over the terminal and restores it", arguments: [false, true])
    func restores(usesMouse: Bool) async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        var screen = Self.screen()
        let before = terminal.settings
        let session = try TerminalSession(
            input: terminal.program, output: terminal.program, usesMouse: usesMouse, advice: "use another")
        #expect(terminal.localFlags == 0)
        await terminal.show(on: &screen) { !$0.modeQueries.isEmpty }
        #expect(screen.modes == (usesMouse ? [1_049, 2_004, 1_000, 1_006] : [1_049, 2_004]))
        let failure = #expect(throws: CommandFailure.self) {
            try TerminalSession(input: terminal.program, output: terminal.program, advice: "use another")
        }
        #expect(failure?.message == "the terminal is already in use by this process")
        session.close()
        #expect(terminal.settings == before)
        await terminal.show(on: &screen) { !$0.modes.contains(1_049) }
        #expect(screen.modes == [7, 25])
        session.close()
        #expect(terminal.settings == before)
    }

    @Test("a descriptor that is not a terminal is refused")
    func refused() throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        let failure = #expect(throws: CommandFailure.self) {
            try TerminalSession(input: null, output: null, advice: "use another")
        }
        #expect(failure?.message == "no terminal for input and output; use another")
    }
}
