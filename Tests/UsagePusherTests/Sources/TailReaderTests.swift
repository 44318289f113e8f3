import Foundation
import LocalFiles
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Reading a file's tail")
struct TailReaderTests {
    private static let needle = ByteNeedle("\"a_b\"")

    private func lines(
        _ path: String, start: Int64 = 0, chunk: Int, cap: Int, interruptions: Bool = false
    ) throws -> [String] {
        var found: [String] = []
        var budget = stillBudget()
        try LocalFile(path).withOpen { file throws(FileError) in
            var reader = TailReader(
                byteCount: file.status.byteCount, start: start, needles: [Self.needle],
                chunkByteCount: chunk, lineByteCount: cap)
            while reader.readChunk(
                of: file, budget: &budget, line: { line, _ in found.append(String(decoding: line, as: UTF8.self)) }
            ) {
                if interruptions, reader.end != nil, start == 0 {
                    reader = TailReader(
                        resuming: reader.resumePosition, needles: [Self.needle],
                        chunkByteCount: chunk, lineByteCount: cap)
                    // A chunk that does not reach a line's start makes no progress on its own.
                    _ = reader.readChunk(of: file, budget: &budget) { line, _ in
                        found.append(String(decoding: line, as: UTF8.self))
                    }
                }
            }
        }
        return found
    }

    @Test("any chunk size yields the same lines as reading forward, newest first")
    func likeForward() throws {
        for seed in UInt64(1)...60 {
            var generator = SeededGenerator(seed: seed)
            let home = try SampleHome()
            let cap = 40
            var text = ""
            for _ in 0..<Int.random(in: 0...30, using: &generator) {
                let filler = String(repeating: "x_", count: Int.random(in: 0...25, using: &generator))
                text += filler + (Bool.random(using: &generator) ? "\"a_b\"" : "\"a_\"")
                text += Bool.random(using: &generator) ? "\n" : "\n\n"
            }
            if Bool.random(using: &generator) { text += "\"a_b\" cut" }
            let path = try home.write("file", text)
            var complete = text.split(separator: "\n", omittingEmptySubsequences: false)
            complete.removeLast()
            let expected = complete.filter { $0.contains("\"a_b\"") && $0.utf8.count <= cap }
                .reversed().map(String.init)
            for chunk in [1, 2, 7, 16, 64, 4_096] {
                let found = try lines(path, chunk: chunk, cap: cap)
                #expect(found == expected, "seed \(seed), chunk \(chunk)")
            }
        }
    }

    @Test("a resumed reader skips and repeats nothing")
    func resuming() throws {
        for seed in UInt64(100)...140 {
            var generator = SeededGenerator(seed: seed)
            let home = try SampleHome()
            var text = ""
            for number in 0..<40 {
                let filler = String(repeating: "x", count: Int.random(in: 0...20, using: &generator))
                text += filler + "\"a_b\"\(number)\n"
            }
            let path = try home.write("file", text)
            let expected = text.split(separator: "\n").reversed().map(String.init)
            let found = try lines(path, chunk: 64, cap: 1_000, interruptions: true)
            #expect(found == expected, "seed \(seed)")
        }
    }

    @Test("a 50 MB line is skipped without being kept, and the line before it is found")
    func longLine() throws {
        let home = try SampleHome()
        let path = try home.write("file", "\"a_b\" before\n")
        var junk = Data(repeating: UInt8(ascii: "x"), count: 1_048_576)
        junk.replaceSubrange(500..<505, with: Data("\"a_b\"".utf8))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        for _ in 0..<50 { try handle.write(contentsOf: junk) }
        try handle.write(contentsOf: Data("\n\"a_b\" after\n".utf8))
        try handle.close()
        #expect(try lines(path, chunk: 262_144, cap: 1_048_576) == ["\"a_b\" after", "\"a_b\" before"])
    }

    @Test("nothing before the start is read, and text without a newline is not a line")
    func bounds() throws {
        let home = try SampleHome()
        let path = try home.write("file", "\"a_b\"1\n\"a_b\"2\n\"a_b\"3\n")
        #expect(try lines(path, start: 7, chunk: 3, cap: 100) == ["\"a_b\"3", "\"a_b\"2"])
        #expect(try lines(home.write("cut", "\"a_b\""), chunk: 2, cap: 100).isEmpty)
        #expect(try lines(home.write("empty", ""), chunk: 2, cap: 100).isEmpty)
    }

    @Test("a needle is found at every offset, and nowhere else")
    func needle() {
        for text in ["\"a_b\"", "xx\"a_b\"", "\"a_b\"xx", "_\"a_\"a_b\"_"] {
            let bytes = Array(text.utf8)
            let hit = bytes.withUnsafeBytes {
                Self.needle.firstOffset(in: $0, from: 0, to: $0.count)
            }
            #expect(hit == text.range(of: "\"a_b\"").map { text[..<$0.lowerBound].utf8.count })
        }
        for text in ["", "_", "a_b\"", "\"a_b", "\\\"a_b\\\""] {
            let bytes = Array(text.utf8)
            let hit = bytes.withUnsafeBytes {
                Self.needle.firstOffset(in: $0, from: 0, to: $0.count)
            }
            #expect(hit == nil)
        }
    }
}
