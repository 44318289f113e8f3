import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The built programs with an output that cannot be written.
@Suite("Output that cannot be written", .timeLimit(.minutes(5)))
struct OutputFailureTests {
    /// A home with a stored key and the files of a tool.
    private func withHome(_ body: (TemporaryHome) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.toolHome.path) {
            try FileManager.default.copyItem(
                at: Self.toolHome.appending(path: name), to: URL(filePath: "\(home.path)/\(name)"))
        }
        #expect(try await home.kvs("set", "key", "value").status == 0)
        #expect(try await home.run("usage-push", []).status == 0)
        try await body(home)
    }

    private static let toolHome = Repository.fixtures.appending(path: "sources/codex/homes/usual")

    private static let printingCommands: [(program: String, arguments: [String])] = [
        ("kvs", ["ls"]), ("kvs", ["ls", "--json"]), ("kvs", ["ls", "--long"]), ("kvs", ["get", "key"]),
        ("kvs", ["get", "key", "--json"]), ("kvs", ["status"]), ("kvs", ["export"]), ("kvs", ["--help"]),
        ("kvs", ["--version"]), ("usage-view", []), ("usage-view", ["--json"]), ("usage-view", ["--demo"]),
        ("usage-view", ["--help"]), ("usage-view", ["--version"]), ("usage-push", []), ("usage-push", ["--print"]),
        ("usage-push", ["sources"]), ("usage-push", ["sources", "--json"]), ("usage-push", ["--help"]),
        ("usage-push", ["claude-statusline", "--help"]), ("usage-push", ["--version"]), ("usage-push", ["setup"]),
        ("usage-push", ["setup", "--json"]), ("usage-push", ["config", "show"]), ("usage-push", ["service", "remove"]),
        ("usage-push", ["service", "install", "--print"]), ("link", []), ("link", ["--json"]),
        ("link", ["install", "--print"]), ("link", ["open", "--print", "airmail:?messageid=a"]),
        ("link", ["--version"]),
    ]

    @Test(
        "a full or closed standard output ends a command with status 74 and a message",
        arguments: [Redirection.fullOutput, .closedOutput])
    func unwritableOutput(redirection: Redirection) async throws {
        let reason = redirection == .closedOutput ? "bad file descriptor" : "no space left on device"
        try await withHome { home in
            for (program, arguments) in Self.printingCommands {
                let outcome = try await home.run(program, arguments, redirection: redirection)
                #expect(outcome.status == 74, "\(program) \(arguments)")
                #expect(
                    outcome.errors == "\(program): cannot write standard output: \(reason)\n",
                    "\(program) \(arguments)")
            }
        }
    }

    @Test(
        "an argument that is not UTF-8 is refused, and never taken for another one",
        arguments: [
            "kvs set caf\\351 1", "kvs set --no-sync key caf\\351", "kvs get k\\351y", "kvs rm k\\351y",
            "kvs ls k\\351", "kvs import \\377", "kvsd backup \\377", "kvsd account add caf\\351",
            "usage-push --home \\377",
            "usage-view status --format \\377", "link open \\377", "clip \\377", "ubq \\377",
            "usage-push run \\377 -- true",
        ])
    func notUTF8(command: String) async throws {
        try await withHome { home in
            // The word that would be meant by what is repaired.
            #expect(try await home.kvs("set", "k\u{FFFD}y", "other").status == 0)
            let keys = try await home.kvs("ls").text
            let words = command.split(separator: " ").map { $0.contains("\\") ? "\"$(printf '\($0)')\"" : "\($0)" }
            let program = try #require(TemporaryHome.program(String(command.prefix { $0 != " " })))
            let outcome = try await home.shell(([program.path] + words.dropFirst()).joined(separator: " "))
            #expect(outcome.status == 64, "\(outcome.errors)")
            #expect(outcome.errors.contains("is not UTF-8") && outcome.output.isEmpty, "\(outcome.errors)")
            #expect(try await home.kvs("ls").text == keys && keys.contains("k\u{FFFD}y"))
        }
    }

    @Test("the arguments of a command that another program becomes may be any bytes")
    func passedOn() async throws {
        try await withHome { home in
            let program = try #require(TemporaryHome.program("usage-push"))
            let outcome = try await home.shell(
                "\(program.path) run --provider codex -- printf %s \"$(printf 'caf\\351')\"")
            #expect(outcome.output == Data("caf".utf8) + [0xE9], "\(outcome.errors)")
        }
    }

    @Test("a closed pipe ends a command silently with status 0")
    func closedPipe() async throws {
        try await withHome { home in
            for (program, arguments) in Self.printingCommands {
                let outcome = try await home.run(program, arguments, redirection: .closedPipe)
                #expect(outcome.status == 0 && outcome.errors == "", "\(program) \(arguments): \(outcome.errors)")
            }
        }
    }

    @Test(
        "unwritable diagnostics change neither output nor status", arguments: [Redirection.fullErrors, .closedErrors])
    func unwritableErrors(redirection: Redirection) async throws {
        try await withHome { home in
            let failing: [(program: String, arguments: [String], status: Int32)] = [
                ("kvs", ["get", "missing"], 1), ("kvs", ["frobnicate"], 64), ("kvs", ["import", "missing.json"], 74),
                ("kvs", ["sync"], 78), ("usage-view", ["--frobnicate"], 64), ("usage-view", ["--watch"], 64),
                ("usage-push", ["--frobnicate"], 64), ("usage-push", ["--print", "--provider", "claude"], 66),
            ]
            for (program, arguments, status) in failing {
                let outcome = try await home.run(program, arguments, redirection: redirection)
                #expect(outcome.status == status, "\(program) \(arguments)")
                #expect(outcome.output.isEmpty, "\(program) \(arguments)")
            }
            for (program, arguments) in Self.printingCommands {
                let outcome = try await home.run(program, arguments, redirection: redirection)
                #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(program) \(arguments)")
            }
        }
    }

    @Test("without any standard stream a command still ends with its status")
    func everythingClosed() async throws {
        try await withHome { home in
            for (program, arguments) in Self.printingCommands {
                let outcome = try await home.run(program, arguments, redirection: .everythingClosed)
                #expect(outcome.status == 74, "\(program) \(arguments)")
            }
            #expect(try await home.run("kvs", ["set", "key", "new"], redirection: .everythingClosed).status == 0)
            #expect(try await home.run("kvs", ["set", "key", "--stdin"], redirection: .everythingClosed).status == 74)
            #expect(try await home.kvs("get", "key").text == "new")
        }
    }

    @Test("a write is complete although its report cannot be printed")
    func unreportedWrite() async throws {
        try await withHome { home in
            let file = try home.file(
                "import.json",
                #"{"version":1,"store":"s","exported":"","values":["#
                    + #"{"key":"imported","type":"integer","value":1}]}"#)
            let outcome = try await home.run("kvs", ["import", file], redirection: .fullOutput)
            #expect(outcome.status == 74)
            #expect(try await home.kvs("get", "imported").text == "1")
        }
    }

    @Test(
        "the status line capture runs the user's command and exits 0 whatever it cannot write",
        arguments: Redirection.allCases)
    func statusline(redirection: Redirection) async throws {
        try await withHome { home in
            // What is captured cannot be stored either, which is worth a diagnostic.
            try FileManager.default.removeItem(atPath: home.path + "/.local")
            _ = try home.file(".local", "not a directory")
            let outcome = try await home.run(
                "usage-push",
                ["claude-statusline", "--", #"touch "$HOME/ran"; echo output; echo errors >&2"#],
                input: Data(#"{"rate_limits":{"five_hour":{"used_percentage":1}}}"#.utf8),
                redirection: redirection)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(FileManager.default.fileExists(atPath: home.path + "/ran"))
        }
    }

    @Test("child processes do not inherit an ignored SIGPIPE")
    func childSignals() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run("usage-push", ["claude-statusline", "--", "kill -PIPE $$; echo survived"])
        #expect(outcome.status == 0 && outcome.text == "")
    }

    @Test(
        "a watching pusher goes on although it cannot log",
        arguments: [Redirection.fullErrors, .closedErrors, .fullOutputAndErrors, .everythingClosed])
    func watch(redirection: Redirection) async throws {
        try await withHome { home in
            let changes = try RunningProgram(home, "kvs", ["watch", "--count", "1", "--store", "w"])
            var notes = changes.errors.makeAsyncIterator()
            #expect(await notes.next() == "kvs: watching this machine only")
            let pusher = try RunningProgram(
                home, "usage-push", ["--watch", "--verbose", "--store", "w"], redirection: redirection)
            #expect(await changes.status() == 0)
            pusher.interrupt()
            #expect(await pusher.status() == 0)
        }
    }

    @Test("a watching pusher goes on when its terminal goes away")
    func hangUpOfPusher() async throws {
        try await withHome { home in
            let terminal = try PseudoTerminal()
            defer { terminal.closeProgram() }
            let pusher = try RunningProgram(home, "usage-push", ["--watch"], terminal: terminal)
            await terminal.wait(toSee: "watching")
            terminal.closeUser()
            // What it logs at its end has nowhere to go.
            pusher.interrupt()
            #expect(await pusher.status() == 0)
        }
    }

    @Test("the live screen ends when its terminal goes away")
    func hangUpOfViewer() async throws {
        try await withHome { home in
            let terminal = try PseudoTerminal()
            defer { terminal.closeProgram() }
            let viewer = try RunningProgram(home, "usage-view", ["--watch", "--demo"], terminal: terminal)
            await terminal.wait(toSee: "invented data")
            terminal.closeUser()
            #expect(await viewer.status() == 0)
        }
    }
}
