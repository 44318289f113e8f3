import Essentials
import Foundation
import StoreTestSupport
import TestSupport
import TerminalText
import Testing

@testable import usage_view

/// The program on a pseudo terminal that controls it, where the system has what that needs.
@Suite(
    "The live screen as a program", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Shell.isAvailable, "needs setsid, bash and the built program"))
struct TerminalProgramTests {
    @Test("quitting restores the terminal", arguments: ["q", "\u{3}"])
    func quit(key: String) async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        shell.terminal.type(key)
        await shell.expectRestored()
    }

    @Test(
        "every signal that ends the program restores the terminal first",
        arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGSEGV, SIGABRT, SIGTRAP])
    func signals(number: Int32) async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        try shell.send(number)
        await shell.expectRestored()
    }

    @Test("a resize draws for the new size")
    func resize() async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        shell.terminal.resize(columns: 50, rows: 12)
        shell.screen.resize(columns: 50, rows: 12)
        await shell.terminal.show(on: &shell.screen) { screen in
            screen.cells[11].map(\.text).joined().contains("? help")
        }
        shell.terminal.type("q")
        await shell.expectRestored()
    }

    @Test("Control-Z stops the job with the terminal restored, and fg draws everything again")
    func suspend() async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        for round in 1...2 {
            shell.terminal.type("\u{1A}")
            await shell.expectStopped(round)
            shell.terminal.type("fg\n")
            await shell.expectShown()
        }
        shell.terminal.type("q")
        await shell.expectRestored()
    }

    @Test("SIGTSTP from another process stops the program with the terminal restored")
    func stopSignal() async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        try shell.send(SIGTSTP)
        await shell.expectStopped(1)
        // In the background it stops again instead of taking the terminal.
        shell.terminal.type("bg; until jobs | grep -q Stopped; do :; done; echo in-the-backgroun''d\n")
        await shell.terminal.show(on: &shell.screen, until: "in-the-background")
        #expect(!shell.screen.modes.contains(1_049))
        shell.terminal.type("fg\n")
        await shell.expectShown()
        shell.terminal.type("q")
        await shell.expectRestored()
    }

    @Test("a program that was stopped hard takes the terminal over again when it goes on")
    func hardStop() async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        try shell.send(SIGSTOP)
        await shell.terminal.show(on: &shell.screen, until: "Stopped")
        shell.terminal.type("fg\n")
        await shell.terminal.show(on: &shell.screen) { !$0.text.contains("Stopped") }
        await shell.expectShown()
        shell.terminal.type("q")
        await shell.expectRestored()
    }

    @Test("a terminal without a cursor gets lines, and no control sequence", .temporaryHome)
    func dumb() async throws {
        var home = TemporaryHome.ofTest
        home.variables = ["TERM": "dumb"]
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let program = try RunningProgram(home, "usage-view", ["--demo", "--watch"], terminal: terminal)
        let shown = await terminal.wait(toSee: "demo (invented data): ")
        #expect(!shown.contains("\u{1B}"), "\(shown.debugDescription)")
        program.send(SIGTERM)
        _ = await program.status()
    }

    @Test("the program ends with its terminal")
    func lost() async throws {
        var shell = try Shell()
        defer { shell.close() }
        await shell.start()
        shell.terminal.closeUser()
        #expect(await shell.running.status() != nil)
        let program = try shell.program
        try await wait { !ProcessID.isRunning(program) }
    }
}

/// An interactive shell with job control, whose foreground job is the live screen of invented data.
private struct Shell {
    let home: TemporaryHome
    let terminal: PseudoTerminal
    let running: RunningProgram
    var screen = TerminalScreen(columns: 80, rows: 24) { CellWidth.of($0) }

    static let isAvailable =
        ["/usr/bin/setsid", "/bin/bash"].allSatisfy(FileManager.default.isExecutableFile)
        && TemporaryHome.program("usage-view") != nil

    init() throws {
        var home = try TemporaryHome()
        // A prompt that cannot be taken for anything else; readline asks the terminal for nothing.
        try home.file(".inputrc", "set enable-bracketed-paste off\n")
        home.variables = [
            "TERM": "vt220", "PS1": "ready> ", "INPUTRC": home.path + "/.inputrc",
            "PROGRAM": try #require(TemporaryHome.program("usage-view")).path,
        ]
        self.home = home
        terminal = try PseudoTerminal()
        terminal.resize(columns: 80, rows: 24)
        running = try RunningProgram(
            home, "/usr/bin/setsid",
            ["--ctty", "--wait", "/bin/bash", "--norc", "--noprofile", "-i"], terminal: terminal)
    }

    func close() {
        terminal.closeBoth()
        home.remove()
    }

    var program: pid_t {
        get throws {
            let text = try String(contentsOfFile: home.path + "/pid", encoding: .utf8)
            return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    func send(_ signal: Int32) throws { #expect(try kill(program, signal) == 0) }

    private func settings(_ name: String) -> String? {
        try? String(contentsOfFile: home.path + "/" + name, encoding: .utf8)
    }

    mutating func start() async {
        await terminal.show(on: &screen, until: "ready>")
        terminal.type("cd; stty -g >before; (echo $BASHPID >pid; exec \"$PROGRAM\" --demo --watch)\n")
        await expectShown()
    }

    mutating func expectShown() async {
        await terminal.show(on: &screen) { screen in
            screen.modes == [1_049, 2_004] && screen.text.contains("? help") && screen.text.contains("Codex")
        }
        #expect(terminal.localFlags == 0)
    }

    /// The main screen, on which the shell asks for a command. What is typed earlier may be read by the program.
    private mutating func expectPrompt() async {
        await terminal.show(on: &screen) { screen in
            !screen.modes.contains(1_049) && screen.text.split(separator: "\n").last?.hasSuffix("ready>") == true
        }
        #expect(screen.modes == [7, 25])
    }

    mutating func expectStopped(_ round: Int) async {
        await expectPrompt()
        terminal.type("stty -g >stopped; echo seen-\(round)-''again\n")
        await terminal.show(on: &screen, until: "seen-\(round)-again")
        #expect(settings("stopped") == settings("before"))
    }

    /// The shell is in the foreground, the screen is the main one, and the settings are those from before.
    mutating func expectRestored() async {
        await expectPrompt()
        terminal.type("stty -g >after; echo all-''restored\n")
        await terminal.show(on: &screen, until: "all-restored")
        #expect(settings("before") != nil && settings("after") == settings("before"))
    }
}
