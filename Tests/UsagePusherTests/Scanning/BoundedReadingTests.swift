import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

/// What is larger than anything that a tool writes.
@Suite("Bounded reading", .timeLimit(.minutes(10)))
struct BoundedReadingTests {
    private static let path = ".claude/projects/p/s.jsonl"

    private static func line(_ id: String) -> Data {
        Data(
            #"{"type":"assistant","timestamp":"2026-09-18T10:00:00Z","sessionId":"s","requestId":"\#(id)","message":{"id":"\#(id)","model":"claude-opus-5","usage":{"input_tokens":10,"output_tokens":1}}}"#
                .utf8 + [0x0A])
    }

    @Test(
        "a hole of 20 GB is passed over, and the records around it count",
        arguments: [
            (Data(), 0), (Data("{\"type\":\"assistant\",\"message\":{\"usage\":{\"in".utf8), 1),
            (Data(repeating: UInt8(ascii: "x"), count: 300_000), 1),
        ])
    func hole(_ torn: Data, leftOutCount: Int) throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        try home.home.write(Self.path, Self.line("m1") + torn)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: home.home.path(Self.path)))
        let start = try handle.seekToEnd()
        try handle.truncate(atOffset: start + 20_000_000_000)
        #expect(home.usage().requestCount == 1)
        try handle.seekToEnd()
        try handle.write(contentsOf: Self.line("m2"))
        for keepsCache in [true, false] {
            let usage = home.usage(keepsCache: keepsCache)
            #expect(usage.requestCount == 2)
            #expect(usage.leftOut.reduce(0) { $0 + $1.count } == leftOutCount)
        }
        // As in a file whose size became durable before its bytes.
        try handle.seek(toOffset: start)
        try handle.write(contentsOf: [0x0A] + Self.line("m3"))
        #expect(home.usage(keepsCache: false).requestCount == 3)
    }

    @Test("bytes that were zeros when the file was read last count when they are written")
    func zerosOverwritten() throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        for zeroCount in [400, 5_000, 600_000] {
            try home.home.write(Self.path, Self.line("m1") + Data(count: zeroCount))
            #expect(home.usage().requestCount == 1)
            let rest = Self.line("m2") + Self.line("m3")
            try home.home.write(
                Self.path, Self.line("m1") + rest + Data(count: max(0, zeroCount - rest.count)),
                modified: sampleNow.addingTimeInterval(1))
            #expect(home.usage().requestCount == 3)
        }
    }

    @Test("lines of any length are kept in bounded memory, and those that cannot be are counted")
    func longLines() {
        let buffer = LineBuffer(byteCount: 4_096, lineByteCount: 65_536)
        var found: [(count: Int, offset: Int64)] = []
        var leftOutCount = 0
        func add(_ text: [UInt8]) {
            text.withUnsafeBytes { bytes in
                leftOutCount += buffer.add(bytes) { line, offset in
                    found.append((line.count, offset))
                    #expect(JSONCursor.object(in: line).isWhole)
                }
                #expect(buffer.free.count <= 65_536 + 4_096)
            }
        }
        let before = Array("{\"a\":\"\\\"\",\"text\":\"".utf8)
        let piece = Array("\\\\ \\\" ü \\ud83d\\ude00".utf8)
        add(before)
        for _ in 0..<40_000 { add(piece) }
        add(Array("\"}\n{}\n".utf8))
        #expect(found.count == 2 && found[0].offset == 0 && leftOutCount == 0)
        let end = Int64(before.count + 40_000 * piece.count + 3)
        #expect(found.last?.offset == end)
        // Without strings there is nothing to cut, and what is cut but no object is no line.
        add(Array("[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 200_000) + [0x0A])
        add(before + Array(repeating: UInt8(ascii: "x"), count: 200_000) + [0x0A])
        #expect(found.count == 2 && leftOutCount == 2)
        add(Array("{}\n".utf8))
        #expect(found.count == 3)
    }
}

@Suite("Compressed files without content", .enabled(if: Zstandard.installed != nil, "needs libzstd"))
struct EmptyFrameTests {
    private static let emptyFrame = ZstandardFrame.header() + ZstandardFrame.raw(Data(), isLast: true)

    /// Endless streams of frames and blocks, each with next to nothing in it.
    private static let streams: [(name: String, piece: Data, count: Int)] = [
        ("empty frames", emptyFrame, 1_000_000),
        ("skipped frames", Data([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]), 1_000_000),
        ("frames of one byte", ZstandardFrame.file(Data([0x20])), 1_000_000),
        ("empty blocks", ZstandardFrame.raw(Data(), isLast: false), 2_000_000),
    ]

    @Test("they end early, and are counted as left out", arguments: 0..<streams.count)
    func endless(_ index: Int) throws {
        let (name, piece, count) = Self.streams[index]
        let home = try TokenHome(logs: [CodexTokens()])
        var content = name == "empty blocks" ? ZstandardFrame.header() : Data()
        content.reserveCapacity(piece.count * count + 16)
        for _ in 0..<count { content += piece }
        let path = try home.home.write(CodexLines.name(1) + ".zst", content)
        var callCount = 0
        let zstandard = try #require(Zstandard.installed)
        try LocalFile(path).withOpen { file throws(FileError) in
            let outcome = try zstandard.decompress(file) { _ in
                callCount += 1
                return true
            }
            #expect(outcome == .invalid, "\(name)")
        }
        #expect(callCount < 200_000)
        let usage = home.usage()
        #expect(usage.leftOut.map(\.count) == [1])
        #expect(!usage.isPartial)
    }
}
