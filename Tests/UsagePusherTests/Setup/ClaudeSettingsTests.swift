import Foundation
import Testing

@testable import UsagePusher

@Suite("Capture in settings.json")
struct ClaudeSettingsTests {
    private static let statusline =
        #""statusLine": {"type": "command", "padding": 0, "#
        + #""command": "~/.claude/s.sh --n \"it's\"\t\u0027x\u0027 | cat"}"#

    /// A shape of the file, and the user's own command in it.
    struct Shape: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var text: String
        var own: String?

        init(_ name: String, _ text: String, own: String? = nil) {
            testDescription = name
            self.text = text
            self.own = own
        }
    }

    private static let escaped = "~/.claude/s.sh --n \"it's\"\t'x' | cat"

    static let shapes: [Shape] = [
        Shape("an empty object", "{}"),
        Shape("an empty object with a line feed", "{}\n"),
        Shape("an empty object with a space", "{ }"),
        Shape("an empty object on two lines", "{\n}\n"),
        Shape("an empty object with CRLF", "{}\r\n"),
        Shape("an empty object on two lines with CRLF", "{\r\n}\r\n"),
        Shape("other keys", "{\n  \"model\": \"opus\",\n  \"hooks\": {\"a\": [1, {}]}\n}\n"),
        Shape("no line feed at the end", "{\n  \"model\": \"opus\"\n}"),
        Shape("tabs", "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"b\"\n\t}\n}\n"),
        Shape("no indentation", "{\n\"model\": \"opus\"\n}\n"),
        Shape("an empty line between members", "{\n  \"a\": 1,\n\n  \"b\": 2\n}\n"),
        Shape("CRLF", "{\r\n    \"model\": \"opus\"\r\n}\r\n"),
        Shape("one line", "{\"model\": \"opus\", \"a\": [1,2]}"),
        Shape("one line without spaces", "{\"model\":\"opus\",\"a\":[1,2]}"),
        Shape("a byte order mark", "\u{FEFF}{\n  \"model\": \"opus\"\n}\n"),
        Shape("spaces around the object", " \n { \"a\" : 1 } \n\n"),
        Shape("text that looks like JSON", #"{"a": "{\"statusLine\": {} } // no comment", "ü": "日本"}"#),
        Shape("a status line deeper down", #"{"a": {"statusLine": {"command": "x"}}}"#),
        Shape("every kind of value", "{\"a\": [true, false, null, -0.5e+10, 0, \"\\ud83d\\ude00\"]}"),
        Shape("a status line", "{\n  \(statusline)\n}\n", own: escaped),
        Shape("a status line first", "{\(statusline), \"z\": 1}", own: escaped),
        Shape("a status line with tabs and CRLF", "{\r\n\t\(statusline),\r\n\t\"z\":1\r\n}", own: escaped),
        Shape("an empty command", #"{"statusLine": {"command": ""}}"#, own: ""),
        Shape("a command without a type", #"{"statusLine":{"command":"a\\b\n'c'"}}"#, own: "a\\b\n'c'"),
        Shape(
            "a status line with escapes in its names",
            #"{"\u0073tatusLine": {"\u0063ommand": "date"}}"#, own: "date"),
        Shape(
            "a duplicate key, of which the last counts",
            #"{"statusLine": {"command": "first"}, "# + #""statusLine": {"command": "one", "command": "two"}}"#,
            own: "two"),
        Shape("two megabytes", "{\n  \"a\": \"" + String(repeating: "x", count: 1 << 21) + "\",\n  \"b\": [{}]\n}\n"),
    ]

    private static func command(_ text: Data) throws -> String {
        let bytes = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        let outline = try JSONOutline(Array(bytes))
        let statusline = try #require(outline.member("statusLine", of: outline.root))
        let command = try #require(outline.member("command", of: statusline.value))
        // A reader that knows nothing of this one agrees that it is JSON.
        _ = try JSONSerialization.jsonObject(with: Data(bytes))
        return try #require(outline.text(command.value.range))
    }

    @Test("the capture is added in front of the user's command", arguments: shapes)
    func adding(shape: Shape) throws {
        let settings = try ClaudeSettings(Data(shape.text.utf8))
        #expect(!settings.isCaptured)
        let edited = settings.addingCapture(program: "usage-push")
        let own = shape.own.map { " -- '" + $0.replacing("'", with: #"'\''"#) + "'" } ?? ""
        #expect(try Self.command(edited) == "usage-push claude-statusline" + own)
        #expect(try ClaudeSettings(edited).isCaptured)
    }

    @Test("undoing restores every byte", arguments: shapes)
    func undoing(shape: Shape) throws {
        let original = Data(shape.text.utf8)
        #expect(try ClaudeSettings(original).removingCapture() == original)
        for program in ["usage-push", "/opt/it's mine/\"ü\"/usage-push"] {
            let edited = try ClaudeSettings(original).addingCapture(program: program)
            #expect(try ClaudeSettings(edited).removingCapture() == original)
        }
    }

    @Test("adding again changes nothing, except to another program", arguments: shapes)
    func addingAgain(shape: Shape) throws {
        let original = try ClaudeSettings(Data(shape.text.utf8))
        let first = original.addingCapture(program: "usage-push")
        #expect(try ClaudeSettings(first).addingCapture(program: "usage-push") == first)
        let moved = try ClaudeSettings(first).addingCapture(program: "/opt/bin/usage-push")
        #expect(moved == original.addingCapture(program: "/opt/bin/usage-push"))
    }

    @Test("an addition follows the layout of the file")
    func layout() throws {
        func added(_ text: String) throws -> String {
            let data = try ClaudeSettings(Data(text.utf8)).addingCapture(program: "usage-push")
            return String(decoding: data, as: UTF8.self)
        }
        let command = "\"command\": \"usage-push claude-statusline\""
        #expect(
            try added("{\r\n\t\"a\": 1\r\n}")
                == "{\r\n\t\"a\": 1,\r\n\t\"statusLine\": {\r\n\t\t\"type\": \"command\",\r\n\t\t"
                + command + "\r\n\t}\r\n}")
        #expect(
            try added(#"{"a":1}"#)
                == #"{"a":1,"statusLine":{"type":"command","#
                + command.replacing(": ", with: ":") + "}}")
        #expect(
            try added("{}")
                == String(decoding: ClaudeSettings.new(program: "usage-push").dropLast(), as: UTF8.self))
    }

    @Test("every command survives, whatever is written with an escape in it")
    func commands() throws {
        let units = ["'", #"\u0027"#, #"\\"#, #"\u005c"#, #"\""#, " ", "a", "ü"]
        var commands = [""]
        for _ in 0..<3 { commands += commands.flatMap { text in units.map { text + $0 } } }
        for command in Set(commands) {
            let original = Data("{\"statusLine\":{\"command\":\"\(command)\"}}".utf8)
            let edited = try ClaudeSettings(original).addingCapture(program: "usage-push")
            #expect(try ClaudeSettings(edited).removingCapture() == original, "\(command)")
        }
    }

    @Test("a member that was added since stays when the capture is removed")
    func editedSince() throws {
        let added = try ClaudeSettings(Data("{\n  \"a\": 1\n}".utf8)).addingCapture(program: "usage-push")
        var text = String(decoding: added, as: UTF8.self)
        text = text.dropLast(2) + ",\n  \"b\": 2\n}"
        #expect(
            String(decoding: try ClaudeSettings(Data(text.utf8)).removingCapture(), as: UTF8.self)
                == "{\n  \"a\": 1,\n  \"b\": 2\n}")
        let first = "{\"statusLine\": {\"command\": \"usage-push claude-statusline\"}, \"b\": 2}"
        #expect(try ClaudeSettings(Data(first.utf8)).removingCapture() == Data("{\"b\": 2}".utf8))
    }

    @Test(
        "a capture written by hand is recognized",
        arguments: [
            ("usage-push claude-statusline", nil),
            ("usage-push claude-statusline --", nil),
            (" ~/bin/usage-push  claude-statusline -- date", "date"),
            (
                "'/opt/x y/usage-push' claude-statusline -- ~/.claude/s.sh -a 'b c' | cat",
                "~/.claude/s.sh -a 'b c' | cat"
            ),
            ("usage-push claude-statusline -- 'a b' 'c'", "'a b' 'c'"),
        ] as [(String, String?)])
    func byHand(command: String, own: String?) throws {
        func text(_ command: String) -> String {
            "{\"a\":1,\"statusLine\":{\"command\":\"\(command)\"}}"
        }
        let settings = try ClaudeSettings(Data(text(command).utf8))
        #expect(settings.isCaptured)
        let restored = own.map(text) ?? "{\"a\":1}"
        #expect(String(decoding: try settings.removingCapture(), as: UTF8.self) == restored)
    }

    @Test("a capture in another command is left alone and not undone")
    func custom() throws {
        let text = Data("{\n \"statusLine\":{\"command\":\"tee x | usage-push claude-statusline\"}}".utf8)
        let settings = try ClaudeSettings(text)
        #expect(settings.isCaptured)
        #expect(settings.addingCapture(program: "usage-push") == text)
        let error = #expect(throws: JSONDocumentError.self) { try settings.removingCapture() }
        #expect(
            error?.description == "line 2, column 26: this command runs usage-push"
                + " claude-statusline in a form of its own")
    }

    @Test(
        "what cannot be edited safely is refused with its position",
        arguments: [
            ("", "line 1, column 1: the file is empty"),
            ("{\n  // note\n}", "line 2, column 3: comments are not valid in JSON"),
            ("{\"ü\": 1 /* note */}", "line 1, column 9: comments are not valid in JSON"),
            ("{\"a\": 1,}", "line 1, column 9: a name in quotes is expected"),
            ("{\"a\": 01}", "line 1, column 8: a number with a leading zero"),
            ("{\"a\": [1 2]}", "line 1, column 10: a comma or a closing bracket is expected"),
            ("{\"a\" 1}", "line 1, column 6: a colon is expected"),
            ("{'a': 1}", "line 1, column 2: a name in quotes is expected"),
            ("{\"a\": \"b\nc\"}", "line 1, column 9: a control character in a string"),
            ("{\"a\": \"\\x\"}", "line 1, column 8: an unknown escape in a string"),
            ("{\"a\": \"\\u12\"}", "line 1, column 8: an unknown escape in a string"),
            ("{\"a\": NaN}", "line 1, column 7: a value is expected"),
            ("{\"a\": -}", "line 1, column 8: a digit is expected"),
            ("{\"a\": 1", "line 1, column 8: a comma or a closing brace is expected"),
            ("{\"a\": \"b", "line 1, column 9: the string is not closed"),
            ("{\"a\": \"b\\", "line 1, column 9: an unknown escape in a string"),
            ("{} {}", "line 1, column 4: text after the end of the document"),
            ("[1]", "line 1, column 1: not a JSON object"),
            ("{\n\"statusLine\": null}", "line 2, column 1: statusLine is not an object with a command"),
            ("{\"statusLine\": \"date\"}", "line 1, column 2: statusLine is not an object with a command"),
            (
                "{\"statusLine\": {\"command\": [\"date\"]}}",
                "line 1, column 2: statusLine is not an object with a command"
            ),
        ])
    func refused(text: String, message: String) throws {
        let error = #expect(throws: JSONDocumentError.self) {
            try ClaudeSettings(Data(text.utf8))
        }
        #expect(error?.description == message)
    }

    @Test("bytes that are not UTF-8 and endless nesting are refused")
    func hostile() throws {
        let invalid = #expect(throws: JSONDocumentError.self) {
            try ClaudeSettings(Data("{\n\"ü".utf8) + Data([0xFF, 0x22, 0x7D]))
        }
        #expect(invalid?.description == "line 2, column 3: invalid UTF-8")
        let nested = #expect(throws: JSONDocumentError.self) {
            try ClaudeSettings(Data(("{\"a\":" + String(repeating: "[", count: 100_000)).utf8))
        }
        #expect(nested?.reason == "nested too deeply")
    }
}
