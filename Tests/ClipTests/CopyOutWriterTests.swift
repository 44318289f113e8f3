@testable import clip
import Commands
import Essentials
import Foundation
import TestSupport
import Testing

/// Bytes that are no text, with all values.
private let image = ClipContents.Part(.png, Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }))
private let text = ClipContents.Part(.text, "a $(b) «c»\n\u{1B}[31m \0end\n")

/// Once in each kind of session.
@Suite("Copying to a display", .serialized, .timeLimit(.minutes(2)), .sessions([.sway, .xvfb]))
struct CopyOutDisplayTests {
    private let session: ClipboardSession
    private var isWayland: Bool { session.kind == .sway }

    init() throws { session = try #require(SessionTrait.session) }

    private func paste(_ type: String? = nil) async throws -> TemporaryHome.Outcome {
        switch session.kind {
        case .sway:
            let type = type.map { ["--type", $0] } ?? []
            return try await session.home.run("/usr/bin/wl-paste", ["--no-newline"] + type)
        case .xvfb:
            let type = type.map { ["-t", $0] } ?? []
            return try await session.home.run("/usr/bin/xclip", ["-selection", "clipboard", "-o"] + type)
        }
    }

    @Test("what is copied is pasted with equal bytes and its type", arguments: [text, image])
    func bytes(part: ClipContents.Part) async throws {
        let copyOut = try ClipboardWriter(environment: session.variables).copy(part)
        #expect(copyOut.target == (isWayland ? .wayland : .x11) && copyOut.report == "copied")
        let type = part.type == .text && !isWayland ? "UTF8_STRING" : part.type.rawValue
        #expect(try await paste(type).output == part.data)
        guard isWayland else { return }
        let types = try await session.home.run("/usr/bin/wl-paste", ["--list-types"])
        #expect(types.text.hasPrefix(part.type.rawValue + "\n"))
    }

    @Test("a clipboard that is cleared has no text to paste")
    func clearing() async throws {
        let writer = ClipboardWriter(environment: session.variables)
        _ = try writer.copy(text)
        try writer.clear()
        let pasted = try await paste()
        #expect(pasted.output.isEmpty && (!isWayland || pasted.status == 1))
    }

    @Test("a display that is not there is an error with the reason")
    func missing() throws {
        var variables = session.variables
        variables[isWayland ? "WAYLAND_DISPLAY" : "DISPLAY"] = isWayland ? "wayland-99" : ":9999"
        let reason = isWayland ? "wl-copy: Failed to connect" : "xclip: Error: Can't open display"
        #expect {
            try ClipboardWriter(environment: variables).copy(text)
        } throws: {
            ($0 as? CommandFailure)?.message.contains(reason) == true
        }
    }
}

@Suite("Copying without a display", .serialized, .timeLimit(.minutes(1)))
struct CopyOutTerminalTests {
    @Test("a terminal gets the text as OSC 52, and no other byte")
    func terminal() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let path = try #require(ttyname(terminal.program).map { String(cString: $0) })
        let copyOut = try ClipboardWriter(
            environment: ["SSH_TTY": path, "DISPLAY": "localhost:10.0"], terminalPath: path
        ).copy(text)
        #expect(copyOut.target == .osc52 && copyOut.report == "sent to the terminal")
        let shown = await terminal.wait(toSee: "\u{7}")
        #expect(shown == "\u{1B}]52;c;\(text.data.base64EncodedString())\u{7}")
    }

    @Test("the longest text reaches a terminal that reads slowly, a longer one is refused")
    func longest() async throws {
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        let path = try #require(ttyname(terminal.program).map { String(cString: $0) })
        let writer = ClipboardWriter(environment: [:], terminalPath: path)
        let part = ClipContents.Part(.text, Data(repeating: 0x61, count: CopyOut.terminalByteLimit))
        _ = try writer.copy(part)
        let shown = await terminal.wait(toSee: "\u{7}")
        #expect(shown.utf8.count == 100_000)
        #expect(throws: CopyOut.Failure.tooLong(byteCount: part.data.count + 1)) {
            try writer.copy(ClipContents.Part(.text, part.data + [0x61]))
        }
    }

    @Test("a terminal that accepts no more output is an error, not a hang")
    func stopped() throws {
        let pair = try PseudoTerminal()
        defer { pair.closeBoth() }
        // Output is stopped as by Control-S.
        tcflow(pair.program, TCOOFF)
        let path = try #require(ttyname(pair.program).map { String(cString: $0) })
        #expect(throws: CommandFailure.self) {
            try ClipboardWriter(environment: [:], terminalPath: path).copy(text)
        }
    }

    @Test("inside tmux, tmux passes the text to its own terminal", .requires(programs: ["tmux"]))
    func tmux() async throws {
        var home = try TemporaryHome()
        defer { home.remove() }
        let socket = home.path + "/tmux"
        home.variables = ["TERM": "xterm-256color"]
        let terminal = try PseudoTerminal()
        defer { terminal.closeBoth() }
        terminal.resize(columns: 80, rows: 24)
        let client = try SessionProcess(
            home, ["tmux", "-S", socket, "-f", "/dev/null", "new-session", "echo re''ady; exec cat"],
            terminal: terminal)
        let environment = ["SSH_TTY": "x", "TMUX": socket + ",1,0", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        let endServer = {
            BoundedProcess(clipboard: "/usr/bin/tmux", ["-S", socket, "kill-server"], environment: environment)
        }
        defer { _ = endServer() }
        await terminal.wait(toSee: "ready")
        let copyOut = try ClipboardWriter(environment: environment).copy(text)
        #expect(copyOut.target == .tmux && copyOut.report == "sent through tmux")
        let shown = await terminal.wait(toSee: "\u{7}")
        #expect(shown.contains("\u{1B}]52;;\(text.data.base64EncodedString())\u{7}"))
        let buffer = try await home.run("/usr/bin/tmux", ["-S", socket, "show-buffer"])
        #expect(buffer.output == text.data)
        #expect(endServer().isSuccess)
        await client.end()
        #expect(throws: CommandFailure.self) {
            try ClipboardWriter(environment: environment).copy(text)
        }
    }
}

@Suite("Tools of clipboards", .serialized, .timeLimit(.minutes(1)))
struct CopyOutToolTests {
    private let environment = ["PATH": "/usr/bin:/bin"]

    private func tool(
        _ script: String, input: Data = Data(), outputByteCount: Int? = 1_000, seconds: Double = 10
    ) -> BoundedProcess {
        BoundedProcess(
            clipboard: "/bin/sh", ["-c", script], environment: environment, input: input,
            outputByteCount: outputByteCount, seconds: seconds)
    }

    @Test("a tool that does not end is killed, with all that it has started")
    func hang() async throws {
        let run = tool("sleep 1000 & echo $!; wait", seconds: 0.2)
        #expect(run.end == .outOfTime)
        let child = try #require(pid_t(String(decoding: run.output, as: UTF8.self).trimmed()))
        // A killed process without a parent may not have been waited for.
        func hasEnded() -> Bool {
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("State:\tZ") != false
        }
        // The signal has been sent, and may not have arrived.
        while !hasEnded() {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(hasEnded())
    }

    @Test("a tool that stays in the background is not waited for, and is not killed")
    func background() throws {
        let run = tool("exec 3>&1; (exec 3>&-; exec sleep 1000) </dev/null >&2 & echo $! >&3")
        #expect(run.end == .exited(0))
        let child = try #require(pid_t(String(decoding: run.output, as: UTF8.self).trimmed()))
        #expect(kill(child, SIGKILL) == 0)
    }

    @Test("output over the limit, errors, statuses and missing programs are distinguished")
    func ends() {
        #expect(tool("yes").end == .tooMuchOutput)
        #expect(tool("printf 0123456789").output == Data("0123456789".utf8))
        let failure = tool("echo first >&2; echo second >&2; exit 3")
        #expect(failure.end == .exited(3) && failure.complaint == "first")
        #expect(tool("kill -9 $$").end == .exited(137))
        let missing = BoundedProcess(clipboard: "/missing", [], environment: environment)
        #expect(missing.end == .notStarted(ENOENT))
    }

    @Test("a megabyte goes through a tool that reads and writes at the same time")
    func large() {
        let data = Data((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        #expect(tool("cat", input: data, outputByteCount: data.count).output == data)
        #expect(tool("exit 0", input: data).end == .exited(0))
    }
}
