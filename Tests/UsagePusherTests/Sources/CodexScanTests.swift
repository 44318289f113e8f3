import Foundation
import StoreTestSupport
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Cost of a Codex pass")
struct CodexScanTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    /// Creates a sparse file of `byteCount` bytes that ends with `tail`.
    private func sparse(_ home: SampleHome, _ name: String, byteCount: UInt64, tail: String) throws {
        let path = try home.write(name, "")
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: byteCount)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(("\n" + tail).utf8))
        try handle.close()
        try home.touch(name, sampleNow)
    }

    @Test("little more than the tail of a 1 GiB rollout is read")
    func hugeFile() throws {
        try sparse(home, CodexLines.name(1), byteCount: 1 << 30, tail: CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        var source = CodexSource()
        var budget = stillBudget()
        let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(reading.percents == [36, 55])
        #expect(budget.bytesRead < 1_000_000)
        #expect(!reading.isPartial)
    }

    @Test("a 1 GiB rollout without limits does not hide the file after it")
    func hugeSilentFile() throws {
        try sparse(home, CodexLines.name(2), byteCount: 1 << 30, tail: "")
        try home.write(
            CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 36, 55),
            modified: sampleNow - 60)
        var limits = ScanLimits()
        limits.byteCount = 16 * 1_048_576
        var source = CodexSource()
        var budget = stillBudget(limits)
        let reading = source.read(in: home.environment(limits: limits), at: sampleNow, budget: &budget)
        #expect(reading.percents == [36, 55])
        #expect(budget.bytesRead <= limits.byteCount + 65_536)
    }

    @Test("unchanged files are not read again, and of a grown file only what was appended")
    func watching() throws {
        let filler = String(repeating: "{\"type\":\"response_item\"}\n", count: 40_000)
        let name = CodexLines.name(1)
        try home.write(name, filler + CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        var source = CodexSource()
        var first = stillBudget()
        let before = source.read(in: home.environment(), at: sampleNow, budget: &first)
        var second = stillBudget()
        let same = source.read(in: home.environment(), at: sampleNow, budget: &second)
        #expect(same == before)
        #expect(second.bytesRead == 0)

        let added = CodexLines.usual("2026-09-18T11:30:00Z", 40, 56)
        try home.append(name, String(added.dropLast()), modified: sampleNow.addingTimeInterval(1))
        let cut = source.read(home)
        #expect(cut.percents == [36, 55])
        try home.append(name, "\n", modified: sampleNow.addingTimeInterval(2))
        var third = stillBudget()
        let grown = source.read(in: home.environment(), at: sampleNow, budget: &third)
        #expect(grown.percents == [40, 56])
        #expect(third.bytesRead < added.utf8.count + 1_100)
    }

    @Test("a replaced, truncated or rewritten file is read from scratch")
    func replaced() throws {
        let name = CodexLines.name(1)
        var source = CodexSource()
        func percents(after change: () throws -> Void) rethrows -> [Double]? {
            try change()
            return source.read(home).percents
        }
        let first = CodexLines.usual("2026-09-18T11:00:00Z", 80, 90)
        let padding = "{\"type\":\"response_item\"}\n"
        #expect(try percents { try home.write(name, padding + first) } == [80, 90])
        let replaced = try percents {
            try FileManager.default.moveItem(atPath: home.path(name), toPath: home.path("old"))
            try home.write(name, padding + CodexLines.usual("2026-09-18T11:00:00Z", 10, 20))
        }
        #expect(replaced == [10, 20])
        let shortened = try percents {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: home.path(name)))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(CodexLines.usual("2026-09-18T11:00:00Z", 5, 6).utf8))
            try handle.close()
        }
        #expect(shortened == [5, 6])
        let rewritten = try percents {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: home.path(name)))
            try handle.write(contentsOf: Data((CodexLines.usual("2026-09-18T11:00:00Z", 3, 4) + padding).utf8))
            try handle.close()
        }
        #expect(rewritten == [3, 4])
    }

    @Test("an incremental pass gives the same result as a fresh one")
    func memoryChangesNothing() throws {
        let seed: UInt64 = 20_260_918
        var generator = SeededGenerator(seed: seed)
        var remembering = CodexSource()
        var time = utc("2026-09-18T08:00:00Z")
        for step in 0..<40 {
            time += Double.random(in: 1...600, using: &generator)
            let name = CodexLines.name(Int.random(in: 0..<4, using: &generator))
            let line = CodexLines.usual(
                time.formatted(.iso8601), Double(Int.random(in: 0...60, using: &generator)),
                Double(Int.random(in: 0...60, using: &generator)))
            if FileManager.default.fileExists(atPath: home.path(name)) {
                try home.append(name, line, modified: time)
            } else {
                try home.write(name, line, modified: time)
            }
            var fresh = CodexSource()
            let now = time.addingTimeInterval(1)
            #expect(
                remembering.read(in: home.environment(), at: now)
                    == fresh.read(in: home.environment(), at: now), "seed \(seed), step \(step)")
        }
    }

    @Test("with a newer row known, files from more than a day ago are not opened")
    func horizon() throws {
        try home.write(CodexLines.name(0), CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        for number in 1...20 {
            try home.write(
                CodexLines.name(number), CodexLines.usual("2026-09-17T11:00:00Z", 1, 2),
                modified: utc("2026-09-17T11:00:00Z"))
        }
        var source = CodexSource()
        var budget = stillBudget()
        _ = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(budget.filesOpened == 1)
    }

    @Test("limits in the 250th newest file are found in slices")
    func olderFile() throws {
        try home.write(
            CodexLines.name(0), CodexLines.usual("2026-09-18T09:30:00Z", 48, 60), modified: utc("2026-09-18T09:30:00Z"))
        for number in 1...249 {
            try home.write(CodexLines.name(number), "{\"type\":\"response_item\"}\n")
        }
        var source = CodexSource()
        let first = source.read(home)
        #expect(first.isPartial)
        let second = source.read(home)
        #expect(!second.isPartial)
        #expect(second.percents == [48, 60])
        #expect(second.provider?.lastUpdated == utc("2026-09-18T09:30:00Z"))
    }

    @Test("exceeding any limit marks the reading partial and keeps what was read")
    func limits() throws {
        for number in 0..<30 {
            try home.write(CodexLines.name(number), CodexLines.usual("2026-09-18T11:59:00Z", 20, 50))
        }
        var few = ScanLimits()
        few.fileCount = 5
        var source = CodexSource()
        let reading = source.read(home, limits: few)
        #expect(reading.isPartial)
        #expect(reading.provider?.windows.count == 2)

        for limit in [\ScanLimits.byteCount, \ScanLimits.entryCount] {
            var limits = ScanLimits()
            limits[keyPath: limit] = 10
            var fresh = CodexSource()
            #expect(fresh.read(in: home.environment(limits: limits), at: sampleNow).isPartial)
        }
        var environment = home.environment()
        let time = SteppingClock()
        environment.monotonicSeconds = { time.next() }
        var slow = CodexSource()
        #expect(slow.read(in: environment, at: sampleNow).isPartial)
    }
}

/// A clock that advances a second with every reading.
final class SteppingClock: @unchecked Sendable {
    private let lock = NSLock()
    private var seconds = 0.0

    func next() -> Double {
        lock.withLock {
            seconds += 1
            return seconds
        }
    }
}
