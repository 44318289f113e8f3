@testable import clip
import Foundation
import TestSupport
import Testing

@Suite("The history of one machine", .timeLimit(.minutes(5)))
struct HistoryCommandTests {
    @Test("copies are listed, newest first, and found, written and removed by number, id and pin")
    func commands() async throws {
        try await ClipMachine.with { machine in
            for text in ["first", "second\nline", "first"] { try await machine.add(text) }
            #expect(try await machine.list() == ["first ×2", "second⏎line"])
            #expect(try await machine.clip("get", "2") == "second\nline")
            try await machine.clip("pin", "2", "x")
            #expect(try await machine.list() == ["second⏎line [x]", "first ×2"])
            #expect(try await machine.clip("get", "x") == "second\nline")
            let line = try await machine.clip("list", "--limit", "1")
            #expect(try await machine.clip("get", "-", input: line) == "second\nline")
            #expect(try await machine.clip("select", "x", "--to", "stdout") == "second\nline")
            let nowhere = try await machine.outcome("select", "x", "--to", "wl")
            #expect(nowhere.status == 69 && nowhere.errors.contains("no Wayland display"))
            try await machine.clip("unpin", "x")
            #expect(try await machine.list() == ["second⏎line ×2", "first ×2"])
            try await machine.clip("delete", "1")
            #expect(try await machine.list() == ["first ×2"])
        }
    }

    @Test("what names no item is an error that says so")
    func references() async throws {
        try await ClipMachine.with { machine in
            for (item, status, text) in [
                ("1", 1, "there is no item 1"), ("0", 1, "no item 0"), ("b", 1, "pinned as b"),
                ("zzzzzz", 1, "no item has the id"), ("%", 64, "neither a number"),
            ] as [(String, Int32, String)] {
                let outcome = try await machine.outcome("get", item)
                #expect(outcome.status == status && outcome.errors.contains(text), "\(item): \(outcome)")
            }
        }
    }

    @Test("secrets, ignored rules and pauses keep copies out, and are counted without their text")
    func skipping() async throws {
        try await ClipMachine.with { machine in
            let token = "ghp_" + String(repeating: "a1B2", count: 9)
            for (text, reason) in [(token, "token"), ("  \n", "white space")] {
                let outcome = try await machine.outcome("add", input: text)
                #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome)")
            }
            #expect(try await machine.outcome("add", "--sensitive", input: "pass").status == 1)
            try await machine.clip("rules", "add", "^PIN [0-9]+")
            #expect(try await machine.outcome("add", input: "PIN 1234").status == 1)
            #expect(try await machine.outcome("rules", "check", input: "PIN 1").status == 1)
            #expect(try await machine.clip("rules", "check", input: "a PIN") == "kept\n")
            try await machine.clip("pause")
            #expect(try await machine.outcome("add", input: "while paused").status == 1)
            try await machine.clip("resume")
            try await machine.clip("ignore-next")
            #expect(try await machine.outcome("add", input: "ignored").status == 1)
            try await machine.add("kept")
            #expect(try await machine.list() == ["kept"])
            let status = try await machine.clip("status")
            #expect(status.contains("1 × looks like a GitHub token"), "\(status)")
            let files = FileManager.default.enumerator(atPath: machine.home.path)
            for case let file as String in try #require(files) {
                let path = machine.home.path + "/" + file
                let bytes = FileManager.default.contents(atPath: path) ?? Data()
                for secret in [token, "PIN 1234", "while paused"] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
                }
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
                #expect((mode as? Int ?? 0) & 0o077 == 0 || !file.contains("clip"), "\(file)")
            }
        }
    }

    @Test("the size that is set holds for the next copy, and at once for those that are there")
    func size() async throws {
        try await ClipMachine.with { machine in
            for text in ["a", "b", "c"] { try await machine.add(text) }
            try await machine.clip("settings", "historySize", "2")
            #expect(try await machine.list() == ["c", "b"])
            try await machine.add("d")
            #expect(try await machine.list() == ["d", "c"])
            let outcome = try await machine.outcome("settings", "historySize", "1000")
            #expect(outcome.status == 64 && outcome.errors.contains("1 to 999"))
            try await machine.clip("settings", "historySize", "--reset")
            #expect(try await machine.clip("settings", "historySize").hasSuffix(" 200\n"))
        }
    }

    @Test("contents over the limit stay on this machine, and are there as they were copied")
    func largeContents() async throws {
        try await ClipMachine.with { machine in
            let text = String(repeating: "0123456789abcdef\n", count: 4_096)
            try await machine.add(text)
            #expect(try await machine.clip("get") == text)
            #expect(try await machine.clip("list", "--json").contains("\"isStub\" : true"))
            #expect(try await machine.list("--limit", "1")[0].hasPrefix("0123456789abcdef⏎"))
            try await machine.clip("delete", "1")
            let contents = machine.home.path + "/.local/share/ubiquity/clip/contents"
            #expect(try FileManager.default.contentsOfDirectory(atPath: contents).isEmpty)
        }
    }

    @Test("items expire after their last copy, pinned ones do not", .requires(programs: ["faketime"]))
    func expiry() async throws {
        try await ClipMachine.with { machine in
            for text in ["kept", "gone"] { try await machine.add(text) }
            try await machine.clip("pin", "2", "b")
            try await machine.clip("settings", "expire", "1h")
            #expect(try await machine.list() == ["kept [b]", "gone"])
            let program = try #require(TemporaryHome.program("clip")).path
            func later(_ arguments: String...) async throws -> TemporaryHome.Outcome {
                try await machine.home.run("/usr/bin/faketime", ["+2 hours", program] + arguments, input: Data())
            }
            #expect(try await later("list", "--format", "title").text == "kept\n")
            // Only a command that changes the history removes it.
            #expect(try await machine.list().count == 2)
            #expect(try await later("unpin", "b").status == 0)
            #expect(try await machine.list() == ["kept"])
        }
    }

    @Test("a damaged history is read as far as it can be, and says so once")
    func damage() async throws {
        try await ClipMachine.with { machine in
            for text in ["one", "two", "three"] { try await machine.add(text) }
            let directory = machine.home.path + "/.local/share/ubiquity/clip/history"
            let log = directory + "/0000000000000001.log"
            var bytes = try Data(contentsOf: URL(filePath: log))
            let place = try #require(bytes.range(of: Data("two".utf8)))
            bytes[place.lowerBound] ^= 0xFF
            try bytes.write(to: URL(filePath: log))
            let list = try await machine.outcome("list", "--format", "title")
            #expect(list.status == 0 && list.text == "three\none\n", "\(list)")
            #expect(list.errors.contains("left out; damaged files are kept in \(directory)"))
            #expect(try await machine.outcome("list").errors.isEmpty)
        }
    }

    @Test("programs that add at the same time lose no copy")
    func concurrentAdditions() async throws {
        try await ClipMachine.with { machine in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 { group.addTask { try await machine.add("copy \(number)") } }
                try await group.waitForAll()
            }
            #expect(try await Set(machine.list()) == Set((0..<12).map { "copy \($0)" }))
        }
    }

    @Test("text of others can neither control the terminal nor hide")
    func hostileText() async throws {
        try await ClipMachine.with { machine in
            try await machine.add("\u{1B}]0;title\u{7} \u{202E}evil\u{9B}2J")
            let outputs = [
                try await machine.clip("list"), try await machine.clip("list", "--json"),
                try await machine.clip("list", "--format", "number title"),
            ]
            for output in outputs {
                #expect(
                    output.unicodeScalars.allSatisfy { scalar in
                        scalar == "\n" || scalar == "\t"
                            || scalar.properties.generalCategory != .control
                                && scalar.properties.generalCategory != .format
                    }, "\(output.debugDescription)")
            }
        }
    }

    @Test("the text of RTF alone is written, and no number of a command line ends the program")
    func numbers() async throws {
        try await ClipMachine.with { machine in
            try await machine.clip("add", "--type", "text/rtf", input: "{\\rtf1 one\\par two}")
            #expect(try await machine.clip("get", "--plain") == "one\ntwo")
            try machine.home.file(
                ".config/ubiquity/clip.json",
                "{\"itemKibibytes\":9223372036854775807,\"cacheMebibytes\":-9223372036854775808}")
            let (low, high) = ("\(Int.min)", "\(Int.max)")
            for arguments in [
                ["list", "--limit", high], ["list", "--limit", "99999999999G"], ["list", "--limit=\(low)"],
                ["rules", "remove", "--", low], ["rules", "remove", high], ["get", high], ["get", "--", "-999"],
                ["get", "--", low], ["settings", "itemSize", high], ["settings", "cacheSize", "--", low],
                ["settings", "historySize", high], ["delete", "0"], ["pin", "9999"],
            ] {
                let outcome = try await machine.home.run("clip", arguments)
                #expect([0, 1, 64].contains(outcome.status), "\(arguments): \(outcome)")
            }
        }
        for last in [Int64.min, -1, 0, .max] {
            let seconds = ExpiryLoop.seconds(until: 3_600_000, after: .init(milliseconds: last), at: .now)
            #expect(seconds.isFinite)
        }
    }

    @Test("options may stand before and after the names of commands and items")
    func order() async throws {
        try await ClipMachine.with { machine in
            try await machine.add("text")
            for arguments in [
                ["get", "1", "--type", "text/plain"], ["--type", "text/plain", "get", "1"],
                ["get", "--type", "text/plain", "1"],
            ] {
                let outcome = try await machine.home.run("clip", arguments)
                #expect(outcome.text == "text", "\(arguments): \(outcome)")
            }
            #expect(try await machine.clip("rules", "--json", "list") == "[]\n")
            #expect(try await machine.clip("--json", "rules", "list") == "[]\n")
        }
    }

    @Test("what a limit drops is said by add, list and status")
    func drops() async throws {
        try await ClipMachine.with { machine in
            try await machine.clip("settings", "historySize", "2")
            for text in ["a", "b"] { try await machine.add(text) }
            #expect(try await !machine.clip("status").contains("left the history"))
            let added = try await machine.outcome("add", input: "c")
            #expect(added.errors == "clip: 1 item left the history for newer ones: it holds 2 (historySize)\n")
            #expect(try await machine.clip("status").contains("1 item left the history"))
            #expect(try await machine.clip("status", "--json").contains("\"size\" : 1"))
            #expect(try await machine.outcome("add", input: "c").errors.isEmpty)
        }
    }
}
