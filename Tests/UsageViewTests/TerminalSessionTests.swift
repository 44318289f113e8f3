import Foundation
import Testing

@testable import usage_view

@Suite("The terminal", .serialized, .timeLimit(.minutes(5)))
struct TerminalSessionTests {
    @Test("a session takes the terminal and gives it back as it was")
    func restores() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let before = terminal.localFlags
        #expect(before != 0)
        let session = try PosixTerminalSession(
            input: terminal.program, output: terminal.program)
        #expect(terminal.localFlags == 0)
        #expect(await terminal.wait(toSee: FrameEncoder.enter) == FrameEncoder.enter)
        #expect(throws: TerminalError.alreadyOpen) {
            try PosixTerminalSession(input: terminal.program, output: terminal.program)
        }
        session.close()
        #expect(terminal.localFlags == before)
        #expect(await terminal.wait(toSee: FrameEncoder.leave) == FrameEncoder.leave)
        session.close()
        #expect(terminal.localFlags == before)
    }

    @Test("what is no terminal is refused by name")
    func refused() throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        #expect(throws: TerminalError.notATerminal) {
            try PosixTerminalSession(input: null, output: null)
        }
    }

    @Test("the loop draws what it is given, obeys keys, and restores the terminal when it ends")
    func loop() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let before = terminal.localFlags
        let session = try PosixTerminalSession(
            input: terminal.program, output: terminal.program)
        let model = try Sample.model("v0-first")
        let loop = LiveLoop(session: session, zone: .gmt, isColored: false, now: { Sample.now })
        let (data, continuation) = AsyncStream.makeStream(of: LiveData.self)
        continuation.yield(LiveData(link: model.link, stored: model.stored))
        // The person answers each picture with a key.
        async let person: Void = {
            await terminal.wait(toSee: "43 % used")
            terminal.type("u")
            await terminal.wait(toSee: "57 % left")
            terminal.type("\u{1B}[B\u{1B}q")
        }()
        await loop.run(options: ViewOptions(), data: data)
        await person
        #expect(terminal.localFlags == before)
        #expect(await terminal.wait(toSee: FrameEncoder.leave).hasSuffix(FrameEncoder.leave))
    }
}
