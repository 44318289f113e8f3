import Foundation
import LocalFiles
import StoreTestSupport
import Synchronization
import Testing

@testable import UsagePusher

@Suite("Sums of tokens")
struct TokenLedgerTests {
    private let home: TokenHome

    init() throws { home = try TokenHome(logs: [ClaudeTokens()]) }

    private static func line(
        _ id: String, session: String, output: Int, isSidechain: Bool = false, minute: Int = 0
    ) -> String {
        let time = Date(timeIntervalSince1970: 1_789_700_000 + Double(minute) * 60).formatted(.iso8601)
        return
            #"{"type":"assistant","timestamp":"\#(time)","sessionId":"\#(session)","isSidechain":\#(isSidechain),"#
            + #""requestId":"r-\#(id)","message":{"id":"\#(id)","model":"claude-opus-5","#
            + #""usage":{"input_tokens":10,"output_tokens":\#(output)}}}"# + "\n"
    }

    private static let directory = ".claude/projects/p/"

    private func write(_ name: String, _ lines: String) throws {
        try home.home.write(Self.directory + name + ".jsonl", lines)
    }

    @Test("the same request in two files counts once, with its larger total, whichever is read first")
    func duplicates() throws {
        try write("a", Self.line("m1", session: "a", output: 5))
        try write("b", Self.line("m1", session: "b", output: 9))
        #expect(home.usage().total == TokenCounts(input: 10, output: 9))
        #expect(home.usage(keepsCache: false).sums == home.usage().sums)
    }

    @Test("when the file that stood for a repetition is removed, the repetition counts")
    func removedWinner() throws {
        try write("a", Self.line("m1", session: "a", output: 5))
        try write("b", Self.line("m1", session: "b", output: 9))
        _ = home.usage()
        try FileManager.default.removeItem(atPath: home.home.path(Self.directory + "b.jsonl"))
        #expect(home.usage().total == TokenCounts(input: 10, output: 5))
    }

    @Test("a line that is not complete yet counts when it is")
    func halfLine() throws {
        let line = Self.line("m1", session: "a", output: 5)
        let middle = line.index(line.startIndex, offsetBy: 100)
        try write("a", String(line[..<middle]))
        #expect(home.usage().requestCount == 0)
        try home.home.append(
            Self.directory + "a.jsonl", String(line[middle...]), modified: sampleNow.addingTimeInterval(1))
        #expect(home.usage().requestCount == 1)
    }

    @Test("a damaged cache is not believed", arguments: [0.0, 0.3, 0.6, 0.99])
    func damagedCache(place: Double) throws {
        for index in 0..<50 {
            try home.home.write(
                Self.directory + "\(index).jsonl",
                Self.line("m\(index)", session: "s\(index)", output: index, minute: index))
        }
        let right = home.usage().sums
        var bytes = try Data(contentsOf: URL(fileURLWithPath: home.cachePath))
        bytes[Int(place * Double(bytes.count - 1))] ^= 0x40
        try bytes.write(to: URL(fileURLWithPath: home.cachePath))
        // The entries are looked at only when something has changed.
        try write("new", Self.line("new", session: "new", output: 1))
        #expect(home.usage().sums == home.usage(keepsCache: false).sums)
        #expect(home.usage().sums.count == right.count + 1)
    }

    @Test("a cache without its end, or with nothing in it, is not believed", arguments: [0, 1, 40])
    func cutCache(byteCount: Int) throws {
        try write("a", Self.line("m1", session: "a", output: 5))
        let right = home.usage().sums
        let bytes = try Data(contentsOf: URL(fileURLWithPath: home.cachePath))
        try bytes.prefix(byteCount).write(to: URL(fileURLWithPath: home.cachePath))
        #expect(home.usage().sums == right)
    }

    @Test("files whose changes are read one after the other give what reading all of them gives", arguments: 0..<40)
    func incremental(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var files: [String: String] = [:]
        var time = 0.0
        func change() throws {
            time += 1
            let name = "f\(Int.random(in: 0..<6, using: &random)).jsonl"
            let path = Self.directory + name
            let modified = sampleNow.addingTimeInterval(time)
            func someLine() -> String {
                let id = "m\(Int.random(in: 0..<25, using: &random))"
                return Self.line(
                    id, session: Bool.random(using: &random) ? name : "shared",
                    output: Int.random(in: 1..<4, using: &random),
                    isSidechain: Int.random(in: 0..<4, using: &random) == 0,
                    minute: Int.random(in: 0..<60, using: &random))
            }
            let lines = (0..<Int.random(in: 1..<5, using: &random)).map { _ in someLine() }.joined()
            switch (Int.random(in: 0..<10, using: &random), files[name]) {
            case (0, .some):
                try FileManager.default.removeItem(atPath: home.home.path(path))
                files[name] = nil
            case (1, .some(let text)):
                // Cut at any byte, also within a line.
                files[name] = String(text.prefix(Int.random(in: 0...text.count, using: &random)))
                try home.home.write(path, files[name] ?? "", modified: modified)
            case (2, .some):
                files[name] = lines
                try home.home.write(path, lines, modified: modified)
            case (3, .some(let text)):
                let other = "g\(Int.random(in: 0..<3, using: &random)).jsonl"
                try? FileManager.default.removeItem(atPath: home.home.path(Self.directory + other))
                try FileManager.default.moveItem(
                    atPath: home.home.path(path), toPath: home.home.path(Self.directory + other))
                files[name] = nil
                files[other] = text
            case (_, .some(let text)):
                let appended = lines.dropLast(Bool.random(using: &random) ? 0 : 20)
                try home.home.append(path, String(appended), modified: modified)
                files[name] = text + appended
            case (_, nil):
                try home.home.write(path, lines, modified: modified)
                files[name] = lines
            }
        }
        for step in 0..<25 {
            for _ in 0..<Int.random(in: 0..<3, using: &random) { try change() }
            let kept = home.usage()
            let fresh = home.usage(keepsCache: false)
            try #require(kept.totals == fresh.totals, "seed \(seed), step \(step)")
        }
    }

    @Test("documents that are replaced, forked and removed give what reading all of them gives", arguments: 0..<40)
    func documents(seed: Int) throws {
        let home = try TokenHome(logs: [ClineTokens()])
        var random = SeededGenerator(seed: UInt64(seed))
        var sessions: [Int: [String]] = [:]
        func change() throws {
            let number = random.below(4)
            let path = ".cline/data/sessions/s\(number)/s\(number).messages.json"
            if sessions[number] != nil, random.chance(5) {
                sessions[number] = nil
                return try FileManager.default.removeItem(atPath: home.home.path(path))
            }
            var messages = sessions[number] ?? sessions[random.below(4)] ?? []
            for _ in 0...random.below(2) {
                messages.append(
                    #"{"id":"m\#(random.below(12))","role":"assistant","ts":1793748616952,"metrics":{"inputTokens":9}}"#
                )
            }
            sessions[number] = messages
            try home.home.write(".cline/data/sessions/s\(number)/.keep", "")
            // By a file that takes its place, as the tool does.
            try Data("{\"messages\":[\(messages.joined(separator: ","))]}".utf8)
                .write(to: URL(fileURLWithPath: home.home.path(path)), options: .atomic)
        }
        for step in 0..<25 {
            for _ in 0..<random.below(4) { try change() }
            try #require(
                home.usage().totals == home.usage(keepsCache: false).totals, "seed \(seed), step \(step)")
        }
    }

    @Test("of a session and a copy without a mark that which was there first has the requests", arguments: 0..<8)
    func unmarkedCopy(number: Int) throws {
        func lines(_ session: String) -> String {
            (0..<3).map { Self.line("m\($0)", session: session, output: 5, minute: $0) }.joined()
        }
        let (original, copy) = ("original\(number)", "copy\(number)")
        let paths = [original, copy].map { Self.directory + $0 + ".jsonl" }
        try home.home.write(paths[0], lines(original))
        _ = home.usage()
        let later = { sampleNow.addingTimeInterval($0) }
        try home.home.write(
            paths[1], lines(copy) + Self.line("own", session: copy, output: 1, minute: 9), modified: later(1))
        func requestCounts() -> [String: Int] {
            let usage = home.usage()
            return usage.buckets.reduce(into: [:]) { $0[usage.session(of: $1).id, default: 0] += $1.requestCount }
        }
        #expect(requestCounts() == [original: 3, copy: 1])
        // Its file becomes the newer one.
        try home.home.append(
            paths[0], Self.line("more", session: original, output: 1, minute: 10), modified: later(2))
        #expect(requestCounts() == [original: 4, copy: 1])
    }

    @Test("a cache that is lost or drops what no file has taken back is another one")
    func cacheID() throws {
        try write("a", Self.line("m1", session: "a", output: 5))
        let first = home.usage().cache
        try write("b", Self.line("m2", session: "b", output: 5))
        #expect(home.usage().cache == first)
        try FileManager.default.removeItem(atPath: home.home.path(Self.directory + "b.jsonl"))
        #expect(home.usage().cache == first && home.usage().keptBuckets.count == 2)
        try FileManager.default.removeItem(atPath: home.cachePath)
        #expect(home.usage().cache != first)
    }

    @Test("prices that change are applied to what was read before")
    func changedPrices() throws {
        try write("a", Self.line("m1", session: "a", output: 1_000_000))
        let before = home.usage().buckets[0].cost.dollars(.auto)
        var environment = home.home.environment()
        environment.keepsCache = true
        let own = try ModelPricesDocument(Data(#"{"models": {"claude-opus-5": {"input": 0, "output": 1}}}"#.utf8))
        let ledger = TokenLedger(logs: [ClaudeTokens()], environment: environment)
        _ = ledger.update(in: environment, prices: .packaged)
        let after = ledger.update(in: environment, prices: ModelPrices.packaged.replacing(own.models))
        #expect(before == 25.000_05)
        #expect(after.buckets[0].cost.dollars(.auto) == 1)
    }

    @Test("a file that was rewritten with what others repeat is read alone")
    func rewritten() throws {
        let path = Self.directory + "a.jsonl"
        let line = Self.line("m1", session: "s", output: 5)
        try home.home.write(path, line)
        try write("b", line + Self.line("m2", session: "s", output: 1) + line)
        let before = home.usage().sums
        // Among equal records that of either file may stand for both.
        for (path, lines) in [(path, line), (Self.directory + "b.jsonl", line)] {
            try FileManager.default.removeItem(atPath: home.home.path(path))
            try home.home.write(
                path, Self.line("new \(path)", session: "s", output: 2) + lines,
                modified: sampleNow.addingTimeInterval(1))
            let byteCount = Atomic<Int>(0)
            let usage = home.usage { count, _ in byteCount.max(count, ordering: .relaxed) }
            #expect(usage.sums == home.usage(keepsCache: false).sums)
            #expect(usage.sums != before)
            #expect(byteCount.load(ordering: .relaxed) < 2 * line.utf8.count + 100)
        }
    }

    @Test("a large cache is not replaced for a few lines, and is for many")
    func largeCache() throws {
        func lines(_ numbers: Range<Int>) -> String {
            numbers.map { Self.line("m\($0)", session: "s", output: 1, minute: $0) }.joined()
        }
        let path = Self.directory + "a.jsonl"
        try home.home.write(path, lines(0..<32_000))
        _ = home.usage()
        let identity = try FileStatus(path: home.cachePath)?.identity
        for (count, isKept) in [(32_001, true), (32_002, true), (36_000, false)] {
            let former = home.usage().requestCount
            try home.home.append(path, lines(former..<count), modified: sampleNow.addingTimeInterval(Double(count)))
            #expect(home.usage().requestCount == count)
            #expect((try FileStatus(path: home.cachePath)?.identity == identity) == isKept)
        }
        #expect(home.usage().sums == home.usage(keepsCache: false).sums)
    }

    @Test("a file that cannot be read is named by every reading, and read when it can be")
    func failed() throws {
        let home = try TokenHome(logs: [GeminiTokens()])
        let path = ".gemini/tmp/p/chats/session-2026-09-18T11-00-abc.json"
        try home.home.write(path, Data(count: 17 * 1_048_576))
        for _ in 0..<2 {
            let usage = home.usage()
            #expect(usage.issues.contains { $0.contains(path) })
            #expect(!usage.isPartial)
        }
    }

    @Test("a reading that is cut short says so, and the next ones go on")
    func slices() throws {
        for index in 0..<20 {
            try home.home.write(Self.directory + "\(index).jsonl", Self.line("m\(index)", session: "s", output: 1))
        }
        var environment = home.home.environment()
        environment.keepsCache = true
        let ticks = Ticks()
        environment.monotonicSeconds = { ticks.next() }
        let ledger = TokenLedger(logs: [ClaudeTokens()], environment: environment)
        var counts: [Int] = []
        repeat {
            let usage = ledger.update(in: environment, prices: .packaged, options: .init(seconds: 5))
            counts.append(usage.requestCount)
            if !usage.isPartial { break }
        } while counts.count < 50
        #expect(counts.count > 1)
        #expect(counts == counts.sorted())
        #expect(counts.last == 20)
    }
}

/// A clock that goes on by half a second with each look at it.
private final class Ticks: Sendable {
    private let count = Mutex(0.0)

    func next() -> Double {
        count.withLock {
            $0 += 0.5
            return $0
        }
    }
}
