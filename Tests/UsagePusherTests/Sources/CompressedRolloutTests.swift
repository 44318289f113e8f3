import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Compressed rollouts", .enabled(if: Zstandard.installed != nil, "needs libzstd"))
struct CompressedRolloutTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    private static let day = utc("2026-09-08T10:00:00Z")
    private static let month = utc("2026-10-01T00:00:00Z")

    private func name(_ number: Int) -> String { CodexLines.name(number) + ".zst" }

    /// A line with the limit of a month.
    private func line(_ time: String, _ percent: Int) -> Data {
        let window = CodexLines.window("\(percent)", 43_800, Self.month)
        return Data(CodexLines.row(time, "{\"primary\":\(window)}").utf8)
    }

    private func compressedFindings(_ reading: SourceReading) -> [String] {
        reading.findings.map(\.detail).filter { $0.contains("compressed") }
    }

    @Test("a window that only compressed sessions have is read from the newest of them")
    func monthlyWindow() throws {
        let home = try SampleHome(copying: "codex/compressed")
        let sessions = try FileManager.default.subpathsOfDirectory(atPath: home.path).filter { $0.hasSuffix(".zst") }
        for path in sessions {
            let isArchived = path.contains("archived")
            try home.touch(path, Self.day.addingTimeInterval(isArchived ? -3 * 86_400 : 0))
        }
        var environment = home.environment()
        environment.explains = true
        var source = CodexSource()
        var budget = stillBudget()
        let reading = source.read(in: environment, at: sampleNow, budget: &budget)
        #expect(reading.percents == [41])
        #expect(reading.provider?.lastUpdated == utc("2026-09-08T09:40:00Z"))
        #expect(reading.considered.map(\.offset) == [nil, nil])
        #expect(compressedFindings(reading) == [])
        #expect(budget.filesOpened == 1)

        var second = stillBudget()
        let same = source.read(in: environment, at: sampleNow, budget: &second)
        #expect(same == reading)
        #expect(second.filesOpened == 0 && second.bytesRead == 0)
    }

    @Test("a compressed file gives the same readings as the plain one")
    func likePlain() throws {
        let plain = try SampleHome(copying: "codex/usual")
        let compressed = try SampleHome(copying: "codex/usual")
        for path in try FileManager.default.subpathsOfDirectory(atPath: compressed.path)
        where path.hasSuffix(".jsonl") {
            let content = try Data(contentsOf: URL(filePath: compressed.path(path)))
            try compressed.remove(path)
            try compressed.write(path + ".zst", ZstandardFrame.file(content))
        }
        var sources = [CodexSource(), CodexSource()]
        let readings = [plain, compressed].enumerated().map { index, home in
            var environment = home.environment()
            environment.explains = true
            return sources[index].read(in: environment, at: sampleNow)
        }
        #expect(readings[0].providers == readings[1].providers)
        #expect(readings[0].considered.map(\.reason) == readings[1].considered.map(\.reason))
    }

    @Test("no compressed session is opened when a newer plain one answers")
    func answered() throws {
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 36, 55))
        try home.write(name(2), ZstandardFrame.file(line("2026-09-08T09:00:00Z", 41)), modified: Self.day)
        var source = CodexSource(zstandard: {
            Issue.record("the library is not needed")
            return nil
        })
        var budget = stillBudget()
        let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(reading.percents == [36, 55])
        #expect(budget.filesOpened == 1)
        #expect(compressedFindings(reading) == [])
    }

    @Test("a session that is plain and compressed counts once, plain")
    func copies() throws {
        try home.write(
            CodexLines.name(1), String(decoding: line("2026-09-08T09:00:00Z", 41), as: UTF8.self),
            modified: Self.day.addingTimeInterval(-60))
        let file = try #require(name(1).split(separator: "/").last)
        for path in [name(1), ".codex/archived_sessions/\(file)"] {
            try home.write(path, ZstandardFrame.file(line("2026-09-08T09:30:00Z", 99)), modified: Self.day)
        }
        var source = CodexSource()
        var budget = stillBudget()
        let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(reading.percents == [41])
        #expect(budget.filesOpened == 1)
    }

    @Test("a truncated or damaged file gives what comes before, and one finding")
    func damaged() throws {
        let start =
            ZstandardFrame.header()
            + ZstandardFrame.raw(line("2026-09-08T09:00:00Z", 41), isLast: false)
        let next = ZstandardFrame.raw(line("2026-09-08T09:30:00Z", 44), isLast: true)
        let cases: [(Data, [Double], String)] = [
            (start + next.dropLast(5), [41], "was read up to an early end"),
            (start, [41], "was read up to an early end"),
            (start + ZstandardFrame.reservedBlock, [41], "was read only up to damaged"),
            (start + next + Data("rest".utf8), [44], "was read only up to damaged"),
            (Data("plain text".utf8), [], "was read only up to damaged"),
            (Data(), [], "was read up to an early end"),
            (ZstandardFrame.header(windowLog: 27) + next, [], "was read only up to damaged"),
        ]
        for (index, (content, percents, detail)) in cases.enumerated() {
            let home = try SampleHome()
            try home.write(name(1), content, modified: Self.day)
            var source = CodexSource()
            for _ in 0..<2 {
                let reading = source.read(home)
                #expect(reading.percents == percents, "case \(index)")
                #expect(reading.provider?.isError == percents.isEmpty, "case \(index)")
                let findings = compressedFindings(reading)
                #expect(findings.count == 1, "case \(index)")
                #expect(findings.first?.hasPrefix("1 compressed session \(detail)") == true)
                #expect(!reading.isPartial)
            }
        }
    }

    @Test("the end of a real file may be missing at any byte")
    func cutAnywhere() throws {
        let home = try SampleHome(copying: "codex/compressed")
        let path = try #require(
            FileManager.default.subpathsOfDirectory(atPath: home.path).first { $0.hasSuffix("21.jsonl.zst") })
        let content = try Data(contentsOf: URL(filePath: home.path(path)))
        for count in stride(from: 0, to: content.count, by: 3) {
            try home.write(path, content.prefix(count), modified: Self.day)
            let reading = home.reading(of: CodexSource())
            #expect(compressedFindings(reading).count == 1)
        }
    }

    @Test("a few kilobytes that expand to half a gigabyte are read up to the limit")
    func bomb() throws {
        var content =
            ZstandardFrame.header()
            + ZstandardFrame.raw(line("2026-09-08T09:00:00Z", 41), isLast: false)
        for _ in 0..<4_096 { content += ZstandardFrame.run(of: UInt8(ascii: "x")) }
        try home.write(name(1), content, modified: Self.day)
        #expect(content.count < 20_000)
        var source = CodexSource()
        var budget = stillBudget()
        let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(reading.percents == [41])
        let limit = ScanLimits().decompressedByteCount
        #expect(budget.bytesRead <= limit + ZstandardFrame.blockByteCount)
        #expect(compressedFindings(reading) == ["1 compressed session was read only in part: too long"])
        var second = stillBudget()
        _ = source.read(in: home.environment(), at: sampleNow, budget: &second)
        #expect(second.bytesRead == 0)
    }

    @Test("without the library the sessions are counted, and the card says what to install")
    func missingLibrary() throws {
        for number in 1...3 {
            try home.write(name(number), ZstandardFrame.file(line("2026-09-08T09:00:00Z", 41)), modified: Self.day)
        }
        var source = CodexSource(zstandard: { Zstandard(fileNames: ["libzstd.so.absent"]) })
        let reading = source.read(home)
        #expect(
            compressedFindings(reading) == ["3 compressed sessions were not read: install \(Zstandard.packageName)"])
        #expect(reading.provider?.isError == true)
        #expect(reading.provider?.statusMessage?.contains(Zstandard.packageName) == true)
        #expect(!reading.isPartial)
    }

    @Test("a file that the bytes or the time of a pass do not suffice for is read in the next")
    func slices() throws {
        let padding = Data("{\"type\":\"response_item\"}\n".utf8)
        try home.write(name(1), ZstandardFrame.file(padding), modified: Self.day)
        try home.write(
            name(2), ZstandardFrame.file(line("2026-09-08T09:00:00Z", 41)), modified: Self.day.addingTimeInterval(-60))
        var limits = ScanLimits()
        limits.byteCount = 1_010
        limits.decompressedByteCount = 1_000
        var source = CodexSource()
        let first = source.read(home, limits: limits)
        #expect(first.isPartial && first.provider?.windows == [])
        let second = source.read(home, limits: limits)
        #expect(!second.isPartial)
        #expect(second.percents == [41])

        var hurried = home.environment()
        let clock = SteppingClock()
        hurried.monotonicSeconds = { clock.next() }
        var slow = CodexSource()
        #expect(slow.read(in: hurried, at: sampleNow).isPartial)
        let later = slow.read(in: home.environment(), at: sampleNow)
        #expect(later.percents == [41])
    }
}
