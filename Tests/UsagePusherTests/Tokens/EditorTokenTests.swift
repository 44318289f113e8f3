import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

/// Cline, Roo Code and Kilo.
@Suite("Tokens of Cline, Roo Code and Kilo")
struct EditorTokenTests {
    private static let logs: [String: any TokenLog] = [
        "cline": ClineTokens(), "roocode": RooCodeTokens(), "kilo": RooCodeTokens.kilo,
    ]

    /// A task's row that says what its request used.
    private static func row(_ usage: String, _ more: String = "", say: String = "api_req_started") -> String {
        let text = usage.replacing("\"", with: "\\\"")
        return "[{\"ts\": 1789639200000, \"type\": \"say\", \"say\": \"\(say)\", \"text\": \"\(text)\"\(more)}]"
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let id: String
        let document: String
        let lines: [String]
        let leftOutCount: Int

        init(_ sentence: String, _ id: String, _ document: String, reads lines: String..., leftOut: Int = 0) {
            testDescription = sentence
            self.id = id
            self.document = document
            self.lines = lines.map { "2026-09-17T10:00:00Z t – " + $0 }
            leftOutCount = leftOut
        }
    }

    @Test(
        "a task's row is read as its tool means it",
        arguments: [
            Case(
                "a cost of 0 is unknown", "cline", row(#"{"tokensIn":1,"tokensOut":2,"cost":0}"#),
                reads: "–: in 1, out 2"),
            Case(
                "a text that is cut inside a character is read", "cline",
                row(#"{"request":"\\ud83d","tokensIn":1,"tokensOut":2}"#), reads: "–: in 1, out 2"),
            Case("other rows have no counts", "cline", row(#"{"tokensIn":1,"tokensOut":2}"#, say: "text")),
            Case("a negative number is left out", "cline", row(#"{"tokensIn":-1,"tokensOut":2}"#), leftOut: 1),
        ])
    func tasks(_ shape: Case) throws {
        let log = try #require(Self.logs[shape.id])
        let entries = LogEntries(log)
        let file = TokenFile(path: "/nowhere/tasks/t/ui_messages.json", root: "/nowhere/tasks")
        try entries.read(file, of: log, as: Array(shape.document.utf8))
        #expect(entries.lines == shape.lines)
        #expect(entries.leftOutCount == shape.leftOutCount)
    }

    @Test("variables say where Cline keeps its data, and which database is Kilo's")
    func variables() throws {
        let home = try SampleHome()
        let environment = home.environment([
            "CLINE_DIR": "~/c", "XDG_CONFIG_HOME": home.path("cfg"), "XDG_DATA_HOME": home.path("d"),
            "KILO_DB": "own.db",
        ])
        let cline = ClineTokens().roots(in: environment)
        #expect(cline.suffix(2) == [home.path("c/data/tasks"), home.path("c/data/sessions")])
        #expect(cline[0] == home.path("cfg/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"))
        #expect(
            OpenCodeTokens.kilo.databases(in: environment)
                == [home.path("d/kilo/kilo.db"), home.path("d/kilo/own.db")])
        let data = home.environment(["CLINE_DATA_DIR": "/x", "CLINE_SESSION_DATA_DIR": "/y"])
        #expect(ClineTokens().roots(in: data).suffix(2) == ["/x/tasks", "/y"])
        let memory = home.environment(["KILO_DB": ":memory:"])
        #expect(OpenCodeTokens.kilo.databases(in: memory) == [home.path(".local/share/kilo/kilo.db")])
    }
}
