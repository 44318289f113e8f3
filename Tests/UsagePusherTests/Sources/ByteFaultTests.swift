import Foundation
import StoreTestSupport
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// For every home of every source: bytes that say nothing change nothing.
@Suite("Faults in the bytes of text files", .timeLimit(.minutes(10)))
struct ByteFaultTests {
    /// Droid's sums are in a file beside the log, which changes with it.
    private static let growing = homes.filter { $0.providerID != "factory" }
    private static let homes = SourceHome.all.filter {
        SQLiteLibrary.installed != nil || !$0.needsSQLite
    }

    @Test("files with a fault say what they say without it", arguments: homes, ByteFault.allCases)
    func faults(_ fixture: SourceHome, _ fault: ByteFault) throws {
        let original = try SampleHome(copying: fixture.testDescription)
        let home = try SampleHome(copying: fixture.testDescription)
        var hasChanged = false
        for name in try home.textFiles() {
            let isOfLines = name.hasSuffix(".jsonl")
            guard let bytes = try fault.applied(to: home.bytes(name), isOfLines: isOfLines) else { continue }
            try home.write(name, bytes)
            hasChanged = true
        }
        guard hasChanged else { return }
        #expect(try fixture.reading(of: home) == fixture.reading(of: original))
    }

    @Test("a log that was cut near the end of any line is read as a whole later", arguments: growing)
    func halves(_ fixture: SourceHome) throws {
        let home = try SampleHome(copying: fixture.testDescription)
        let state = try SampleHome()
        let whole = try fixture.reading(of: home)
        for name in try home.textFiles() where name.hasSuffix(".jsonl") {
            let bytes = try home.bytes(name)
            let ends = bytes.indices.filter { bytes[$0] == 0x0A }
            for end in Set(ends.prefix(1) + ends.suffix(1)) {
                for cut in max(0, end - 1)...min(end + 2, bytes.count) {
                    var reader = try fixture.makeReader(of: home, keepingIn: state)
                    try home.write(name, bytes.prefix(cut))
                    _ = try reader.read()
                    try home.write(name, bytes)
                    #expect(try reader.read() == whole, "\(name) cut at \(cut)")
                }
            }
        }
    }
}

/// For every log of lines.
@Suite("Faults in the lines of token logs", .timeLimit(.minutes(10)))
struct LineFaultTests {
    private static func samples(_ source: RecordingSource) throws -> [TokenSample] {
        try source.samples().filter(\.isOfLines)
    }

    /// What the ledger makes of a sample whose bytes are others.
    private func usage(_ sample: TokenSample, as bytes: Data) throws -> TokenUsage {
        try sample.home.write(sample.relativePath, bytes)
        let environment = sample.home.environment()
        return TokenLedger(logs: [sample.log], environment: environment).update(in: environment, prices: .packaged)
    }

    @Test("a record behind a torn line counts", arguments: RecordingSource.all)
    func torn(_ source: RecordingSource) throws {
        for sample in try Self.samples(source) {
            let whole = try usage(sample, as: Data(sample.bytes)).sums
            let lines = sample.bytes.split(separator: 0x0A)
            for seed in UInt64(1)...8 {
                var random = SeededGenerator(seed: seed)
                var bytes = Data()
                for line in lines {
                    // It is written again as a whole.
                    let isTorn = Int.random(in: 0..<3, using: &random) == 0
                    if isTorn {
                        bytes += line.prefix(Int.random(in: 0..<line.count, using: &random))
                    }
                    if isTorn, Bool.random(using: &random) { bytes += Data(count: 900) }
                    bytes += line + [0x0A]
                }
                let found = try usage(sample, as: bytes).sums
                #expect(found == whole, "\(sample.relativePath), seed \(seed)")
            }
        }
    }

    @Test("a last line without its newline counts, once", arguments: RecordingSource.all)
    func unterminated(_ source: RecordingSource) throws {
        for sample in try Self.samples(source) {
            let whole = try usage(sample, as: Data(sample.bytes)).sums
            let text = sample.bytes.last == 0x0A ? sample.bytes.dropLast() : sample.bytes[...]
            for tail in [[], [0], [0x0D], [0x0A], [0x0D, 0x0A]] as [[UInt8]] {
                #expect(try usage(sample, as: Data(text) + tail).sums == whole, "\(tail)")
            }
        }
    }

    @Test("records of 13 MB count, whatever it is that makes them long", arguments: RecordingSource.all)
    func long(_ source: RecordingSource) throws {
        for sample in try Self.samples(source).prefix(1) {
            let whole = try usage(sample, as: Data(sample.bytes))
            for padding in Self.paddings {
                let lines = sample.bytes.split(separator: 0x0A).filter { line in
                    line.withUnsafeBytes { JSONCursor.object(in: $0).isWhole }
                }
                let last = try #require(lines.last)
                var bytes = Data()
                for line in lines.dropLast() { bytes += line + [0x0A] }
                bytes += Data("{\"padding\":".utf8) + padding + [0x2C] + last.dropFirst() + [0x0A]
                let usage = try usage(sample, as: bytes)
                #expect(usage.sums == whole.sums)
                #expect(usage.leftOut == whole.leftOut)
            }
        }
    }

    /// Values of 13 MB: an image, text in which every character is escaped, and a list of numbers.
    private static let paddings = [
        Data([0x22]) + Data(repeating: UInt8(ascii: "A"), count: 13_000_000) + [0x22],
        Data([0x22]) + Data(String(repeating: "\\\\\\\"\\u00e9ä", count: 1_000_000).utf8) + [0x22],
        Data("[0".utf8) + Data(String(repeating: ",1", count: 6_500_000).utf8) + Data("]".utf8),
    ]
}
