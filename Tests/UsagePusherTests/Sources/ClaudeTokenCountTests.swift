import Foundation
import Testing

@testable import UsagePusher

@Suite("Claude: tokens in transcripts")
struct ClaudeTokenCountTests {
    private func lines(of name: String) throws -> [Data] {
        let home = try SampleHome(copying: name)
        var budget = stillBudget()
        let walk = FolderWalk(
            roots: ClaudeFolders(home.environment()).projects, budget: &budget
        ) { $0.hasSuffix(".jsonl") }
        #expect(walk.files.count == 4)
        var lines: [Data] = []
        for file in walk.newestFirst {
            try ReadOnlyFile.withOpen(file.path) { open in
                var reader = TailReader(
                    byteCount: open.facts.byteCount, needles: [ClaudeTokenCount.needle],
                    lineByteCount: 1_048_576)
                while reader.readChunk(of: open, budget: &budget, line: { lines.append($0) }) {}
            }
        }
        return lines
    }

    @Test("each answer of the sample home counts once")
    func sample() throws {
        let rows = try lines(of: "claude").compactMap { ClaudeTokenCount.Row(line: $0) }
        #expect(rows.count == 11)
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            var count = ClaudeTokenCount()
            for row in (rows + rows).shuffled(using: &generator) { count.add(row) }
            let expected = ClaudeTokenCount.Tokens(
                input: 115, output: 960, cacheWrite: 500, cacheRead: 36_700)
            #expect(count.tokens == expected, "seed \(seed)")
            let kept = ["msg_s01", "msg_s02", "msg_s03", "msg_s04", "msg_s06", "msg_s07"]
            #expect(Set(count.counted.compactMap(\.messageID)) == Set(kept))
            #expect(count.counted.count == 6)
        }
    }

    @Test("lines without an id all count, synthetic ones never, and nonsense is 0")
    func unusual() {
        let row = { (fields: String, usage: String) in
            ClaudeTokenCount.Row(
                line: Data(
                    ("{\"type\":\"assistant\",\"timestamp\":\"2026-09-18T09:00:00Z\",\"message\":{"
                        + fields + "\"usage\":{\(usage)}}}").utf8))
        }
        #expect(row("\"model\":\"<synthetic>\",", "\"input_tokens\":5") == nil)
        var count = ClaudeTokenCount()
        for _ in 0..<2 {
            if let row = row("", "\"input_tokens\":5,\"output_tokens\":1e300") { count.add(row) }
        }
        #expect(count.tokens == ClaudeTokenCount.Tokens(input: 10))
    }
}
