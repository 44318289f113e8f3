import CommandSupport
import Foundation
import ProgramTesting
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The terminal", .serialized, .timeLimit(.minutes(5)))
struct TerminalSessionTests {
    @Test("a session takes over the terminal and restores it")
    func restores() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let before = terminal.localFlags
        #expect(before != 0)
        let session = try TerminalSession(
            input: terminal.program, output: terminal.program)
        #expect(terminal.localFlags == 0)
        #expect(await terminal.wait(toSee: ANSI.enterScreen) == ANSI.enterScreen)
        let failure = #expect(throws: CommandFailure.self) {
            try TerminalSession(input: terminal.program, output: terminal.program)
        }
        #expect(failure?.message == "the terminal is already in use by this process")
        session.close()
        #expect(terminal.localFlags == before)
        #expect(await terminal.wait(toSee: ANSI.leaveScreen) == ANSI.leaveScreen)
        session.close()
        #expect(terminal.localFlags == before)
    }

    @Test("a descriptor that is not a terminal is refused")
    func refused() throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        let failure = #expect(throws: CommandFailure.self) {
            try TerminalSession(input: null, output: null)
        }
        #expect(failure?.message.hasPrefix("--watch needs a terminal") == true)
    }

    @Test("the loop draws its data, responds to keys and restores the terminal at its end")
    func loop() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let before = terminal.localFlags
        let session = try TerminalSession(
            input: terminal.program, output: terminal.program)
        let model = try Sample.model("v0-first")
        let loop = LiveLoop(
            session: session, zone: .fixed(secondsFromGMT: 0), isColored: false, now: { Sample.now }
        )
        let (data, continuation) = AsyncStream.makeStream(of: LiveData.self)
        continuation.yield(LiveData(usage: model.data))
        // The user answers each screen with a key.
        async let user: Void = {
            await terminal.wait(toSee: "43 % used")
            terminal.type("u")
            await terminal.wait(toSee: "57 % left")
            terminal.type("\u{1B}[B\u{1B}q")
        }()
        await loop.run(state: LiveState(), data: data)
        await user
        #expect(terminal.localFlags == before)
        #expect(await terminal.wait(toSee: ANSI.leaveScreen).hasSuffix(ANSI.leaveScreen))
    }
}
