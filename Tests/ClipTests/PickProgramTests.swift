@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import TerminalText
import Testing

enum Screens {
    /// A terminal that has received lines.
    static func applied(_ lines: [StyledLine]) -> TerminalScreen {
        var screen = empty(columns: 120, rows: lines.count)
        var writer = ScreenWriter(isColored: true)
        screen.apply(writer.draw(lines, columns: 120, rows: lines.count))
        return screen
    }

    static func empty(columns: Int, rows: Int) -> TerminalScreen {
        TerminalScreen(columns: columns, rows: rows) { CellWidth.of($0) }
    }
}

/// The program on a pseudo terminal, with a history on disk.
@Suite(
    "clip pick as a program", .serialized, .timeLimit(.minutes(1)),
    .enabled(if: TemporaryHome.program("clip") != nil, "needs the built program"))
struct PickProgramTests {
    private static let hasSetsid = FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")

    private struct Program {
        let home: TemporaryHome
        let store: HistoryStore
        let terminal: PseudoTerminal
        let before: [UInt32]
        let running: RunningProgram
        var screen = Screens.empty(columns: 80, rows: 24)

        init(_ texts: [String], _ arguments: [String] = ["--to", "stdout"]) async throws {
            try await self.init(texts) { home, terminal in
                try RunningProgram(home, "clip", ["pick"] + arguments, terminal: terminal)
            }
        }

        /// - Parameter command: of a shell for which the pseudo terminal is the controlling one.
        init(_ texts: [String], inSessionRunning command: String) async throws {
            let path = try #require(TemporaryHome.program("clip")).path
            try await self.init(texts) { home, terminal in
                var home = home
                home.variables["CLIP"] = path
                return try RunningProgram(
                    home, "/usr/bin/setsid", ["--ctty", "--wait", "/bin/sh", "-c", command], terminal: terminal)
            }
        }

        init(_ texts: [String], start: (TemporaryHome, PseudoTerminal) throws -> RunningProgram) async throws {
            var home = try TemporaryHome()
            home.variables = ["TERM": "vt220", "UBIQUITY_DATA_DIR": home.path + "/data"]
            self.home = home
            store = try HistoryStore(
                ClipFiles(environment: StoreEnvironment(home: home.path, variables: home.variables)))
            try Self.add(texts, to: store)
            terminal = try PseudoTerminal()
            terminal.resize(columns: 80, rows: 24)
            before = terminal.settings
            running = try start(home, terminal)
            await show { $0.text.contains("F1 keys") }
        }

        static func add(_ texts: [String], to store: HistoryStore) throws {
            let limits = HistoryLimits(size: 999)
            try store.change(limits) { history, _ in
                var changes = ClipHistory.Changes()
                for (index, text) in texts.enumerated() {
                    let contents = ClipContents(text: text)
                    let time = Timestamp(milliseconds: Timestamp.now.milliseconds + Int64(index))
                    let key = ItemKey(of: contents)
                    _ = history.add(ItemByteLimit().item(of: contents, on: "desk", at: time), key, contents: contents)
                    changes.written.insert(key)
                }
                return (changes, ())
            }
        }

        mutating func show(until condition: (TerminalScreen) -> Bool) async {
            await terminal.show(on: &screen, until: condition)
        }

        mutating func show(_ text: String) async { await show { $0.text.contains(text) } }

        /// Waits for the end of the program with the terminal as it was.
        ///
        /// - Parameter output: what it has written then.
        mutating func end(with output: String = "") async -> Int32? {
            let status = await running.status()
            await show { !$0.modes.contains(1_049) && $0.text.hasPrefix(output) }
            #expect(screen.modes == [7, 25] && screen.unknown.isEmpty)
            #expect(terminal.settings == before)
            close()
            return status
        }

        func close() {
            store.close()
            terminal.closeBoth()
            home.remove()
        }
    }

    @Test("an item is searched for and copied, and the terminal is as before")
    func copy() async throws {
        var program = try await Program(["foo", "bar"])
        #expect(program.screen.text.contains("› 1 bar"))
        program.terminal.type("fo")
        await program.show("› 1 foo")
        program.terminal.type("\r")
        #expect(await program.end(with: "foo") == 0)
    }

    @Test("leaving copies no item, and exits with 1", arguments: [Sent.escape, Sent.control("c")])
    func leave(key: String) async throws {
        var program = try await Program(["foo"])
        program.terminal.type(key)
        #expect(await program.end() == 1)
        #expect(!program.screen.text.contains { !$0.isWhitespace })
    }

    @Test("a signal that ends the program restores the terminal first")
    func terminated() async throws {
        var program = try await Program(["foo"])
        program.running.send(SIGTERM)
        #expect(await program.end() == -SIGTERM)
    }

    @Test("a copy by another process appears")
    func live() async throws {
        var program = try await Program(["foo"])
        try Program.add(["copied elsewhere"], to: program.store)
        await program.show("1 copied elsewhere")
        #expect(program.screen.text.contains("› 2 foo"))
        program.terminal.type(Sent.escape)
        #expect(await program.end() == 1)
    }

    @Test("a change of the size is followed", .enabled(if: hasSetsid, "needs setsid"))
    func resize() async throws {
        var program = try await Program(["foo"], inSessionRunning: "\"$CLIP\" pick --to stdout")
        program.terminal.resize(columns: 40, rows: 12)
        program.screen.resize(columns: 40, rows: 12)
        await program.show { $0.cells[11].map(\.text).joined().contains("F1 keys") }
        #expect(program.screen.text.contains("› 1 foo"))
        program.terminal.type(Sent.escape)
        #expect(await program.end() == 1)
    }

    @Test("deleting, pinning and clearing change the history on disk")
    func changes() async throws {
        var program = try await Program(["d", "c", "b", "a"])
        program.terminal.type(Sent.control("d"))
        await program.show("› 1 b")
        program.terminal.type(Sent.control("t"))
        await program.show { screen in screen.text.contains("  1 c") && !screen.text.contains("› 1 b") }
        program.terminal.type(Sent.control("x"))
        await program.show("Remove 2 items")
        program.terminal.type("y")
        await program.show { !$0.text.contains("1 c") && !$0.text.contains("Remove") }
        try program.store.change(HistoryLimits()) { history, _ in
            #expect(history.items.values.map { ItemTitle.title(of: $0) } == ["b"])
            #expect(!history.items.values.contains { !$0.isPinned })
            return (.init(), ())
        }
        program.terminal.type(Sent.escape)
        #expect(await program.end() == 1)
    }

    @Test("a query without results is added and copied")
    func addsQuery() async throws {
        var program = try await Program(["foo"])
        program.terminal.type("new text\r")
        await program.show("no item is selected")
        program.terminal.type(Sent.altEnter)
        #expect(await program.end(with: "new text") == 0)
    }

    @Test("a hostile title is visible text")
    func hostile() async throws {
        var program = try await Program(["\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}5n\u{202E}evil"])
        #expect(program.screen.text.contains("› 1 \\u{1B}]0;owned\\u{7}\\u{1B}[2J\\u{9B}5n\\u{202E}evil"))
        program.terminal.type(Sent.escape)
        #expect(await program.end() == 1)
    }

    @Test("999 items are listed, searched and scrolled")
    func many() async throws {
        var program = try await Program((1...999).map { "item \($0) of many" })
        #expect(program.screen.text.contains("› 1 item 999 of many"))
        program.terminal.type("\u{1B}[F")
        await program.show("›   item 1 of many")
        program.terminal.type("m 77")
        await program.show("11 of 999")
        #expect(program.screen.text.contains("› 1 item 779 of many"))
        program.terminal.type("\r")
        #expect(await program.end(with: "item 779 of many") == 0)
    }

    @Test("in a pipe the list is on the terminal, and the item in the pipe", .enabled(if: hasSetsid, "needs setsid"))
    func pipe() async throws {
        var program = try await Program(
            ["foo", "bar"], inSessionRunning: "echo | \"$CLIP\" pick --to stdout | cat >\"$HOME/out\"")
        program.terminal.type(Sent.down)
        await program.show("› 2 foo")
        program.terminal.type("\r")
        _ = await program.running.status()
        #expect(try String(contentsOfFile: program.home.path + "/out", encoding: .utf8) == "foo")
        _ = await program.end()
    }

    @Test("an item is sent to the clipboard of the terminal", .enabled(if: hasSetsid, "needs setsid"))
    func terminalClipboard() async throws {
        let program = try await Program(["foo"], inSessionRunning: "\"$CLIP\" pick")
        program.terminal.type("\r")
        // OSC 52.
        let bytes = await program.terminal.wait(toSee: "sent to the terminal")
        #expect(bytes.contains("\u{1B}]52;c;Zm9v\u{7}"))
        #expect(await program.running.status() == 0)
        #expect(program.terminal.settings == program.before)
        program.close()
    }

    @Test("what cannot be copied is said, and the list stays", .enabled(if: hasSetsid, "needs setsid"))
    func notCopied() async throws {
        var program = try await Program([String(repeating: "long ", count: 4_000)], inSessionRunning: "\"$CLIP\" pick")
        await program.show("on desk only")
        program.terminal.type("\r")
        await program.show("its contents are on desk only")
        program.terminal.type(Sent.escape)
        #expect(await program.end() == 1)
    }

    @Test("without a terminal it says what to use instead")
    func noTerminal() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run(
            "/usr/bin/setsid", ["--wait", try #require(TemporaryHome.program("clip")).path, "pick"])
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("no terminal for input and output; use 'list'"))
    }
}
