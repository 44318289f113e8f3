import Foundation
import Testing
import UsageState

@testable import usage_view

@Suite("The protocol of i3bar")
struct I3BarTests {
    private let usage = InventedUsage()

    private func click(_ button: Int) throws -> I3BarClick {
        try #require(I3BarClick(line: Array(#",{"name":"usage-view","button":\#(button)}"#.utf8)))
    }

    @Test("the header asks for clicks and begins an endless array")
    func header() throws {
        let lines = try I3BarBlocks.header.split(separator: "\n")
        let header = try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any]
        #expect(header?["version"] as? Int == 1)
        #expect(header?["click_events"] as? Bool == true)
        #expect(lines.dropFirst() == ["["])
    }

    @Test("each window is a block, and one that is nearly used up is urgent")
    func blocks() throws {
        let data = usage.data(usage.account("codex", [usage.window(95), usage.window(10)]))
        let line = try usage.line("i3bar", data, providers: ["codex"])
        let blocks = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]])
        #expect(blocks.map { $0["urgent"] as? Bool } == [true, false])
        #expect(blocks.map { $0["color"] as? String } == ["#e0443e", "#4e9a06"])
        #expect(blocks[0]["full_text"] as? String == "!! Codex 5h 95 % used · ▲ out 12:11 · 1h 30m")
        #expect(blocks[0]["short_text"] as? String == "!! Codex 5h 95 % used")
        #expect(blocks[0]["instance"] as? String == "codex/5h")
    }

    @Test("clicks are read from the lines of an array, and anything else is ignored")
    func clicks() {
        #expect(I3BarClick(line: Array("[".utf8)) == nil)
        #expect(I3BarClick(line: Array(#"{"button":3,"x":1}"#.utf8))?.button == 3)
        #expect(I3BarClick(line: Array(#", {"button":1}"#.utf8))?.button == 1)
        #expect(I3BarClick(line: Array(#",{"button":"1"}"#.utf8)) == nil)
        #expect(I3BarClick(line: [0xFF, 0x00]) == nil)
    }

    @Test("lines arrive in pieces, and a long one is nil")
    func lines() {
        var splitter = LineSplitter(limit: 4)
        #expect(splitter.lines(from: Array("ab".utf8)).isEmpty)
        #expect(splitter.lines(from: Array("c\nde\n".utf8)) == [Array("abc".utf8), Array("de".utf8)])
        #expect(splitter.lines(from: Array("12345".utf8)).isEmpty)
        #expect(splitter.lines(from: Array("6\n7\n".utf8)) == [nil, Array("7".utf8)])
    }

    @Test("clicks change the measure and the times and move between the providers")
    func choices() throws {
        var choice = StatusChoice(measure: .used, isAbsolute: false, selection: UsageSelection())
        let providers = ["claude", "codex", "codex"]
        choice.handle(try click(1), providers: providers)
        #expect(choice.measure == .left)
        choice.handle(try click(2), providers: providers)
        #expect(choice.isAbsolute)
        var shown: [[String]] = []
        for button in [3, 5, 3, 4, 4, 9] {
            choice.handle(try click(button), providers: providers)
            shown.append(choice.selection.providers)
        }
        #expect(shown == [["claude"], ["codex"], [], ["codex"], ["claude"], ["claude"]])
        choice.handle(try click(3), providers: [])
        #expect(choice.selection.providers == [])
    }
}
