import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Blocks of usage")
struct UsageBlocksTests {
    private func blocks(
        _ times: [String], hours: Int = 5, at now: String = "2026-12-01T00:00:00Z", query: ReportQuery = query()
    ) -> UsageBlocks {
        var invented = InventedUsage(prices: ["m": (1, 1)])
        for time in times {
            invented.add("2026-09-\(time)Z", TokenCounts(input: 600, output: 400, cacheRead: 9_000))
        }
        return UsageBlocks(invented.usage, hours: hours, query: query, at: milliseconds(now))
    }

    private func times(_ blocks: UsageBlocks) -> [String] {
        blocks.blocks.map { block in
            let texts = [block.start, block.end].map {
                ReportClock.utc($0).dropFirst(8).prefix(8).replacing("T", with: " ")
            }
            return texts.joined(separator: "–") + (block.isGap ? " gap" : "") + (block.isActive ? " active" : "")
        }
    }

    @Test(
        "a block begins at the hour, and the next one by the rules",
        arguments: [
            // The start of the first hour, in UTC, whatever the zone.
            (["18T09:23:00"], ["18 09:00–18 14:00"]),
            // Exactly five hours after the start belongs to it, strictly more does not.
            (["18T09:23:00", "18T14:00:00"], ["18 09:00–18 14:00"]),
            (["18T09:23:00", "18T14:00:00.001"], ["18 09:00–18 14:00", "18 14:00–18 19:00"]),
            (["18T09:23:00", "18T14:23:00"], ["18 09:00–18 14:00", "18 14:00–18 19:00"]),
            // More than five hours after the last request: a gap from then on.
            (["18T09:23:00", "18T14:23:00.001"], ["18 09:00–18 14:00", "18 14:23–18 14:23 gap", "18 14:00–18 19:00"]),
            (
                ["18T09:23:00", "18T10:00:00", "19T01:30:00"],
                ["18 09:00–18 14:00", "18 15:00–19 01:30 gap", "19 01:00–19 06:00"]
            ),
            // A quarter of an hour with requests of both sides of the end.
            (["18T09:23:00", "18T13:59:59.999", "18T14:01:00"], ["18 09:00–18 14:00", "18 14:00–18 19:00"]),
        ])
    func rules(_ requests: [String], _ expected: [String]) {
        #expect(times(blocks(requests)) == expected)
        let berlin = query("Asia/Kathmandu")
        #expect(times(blocks(requests, query: berlin)) == expected)
    }

    @Test("every request is in the block that the rules give it, one by one")
    func requests() {
        let times = ["18T09:23:00", "18T13:59:00", "18T14:01:00", "18T22:00:00", "18T22:10:00"]
        #expect(blocks(times).blocks.map(\.total.requestCount) == [2, 1, 0, 2])
    }

    @Test(
        "a block is active until its end, and while the last request is recent",
        arguments: [
            ("2026-09-18T11:00:00Z", true), ("2026-09-18T13:59:59Z", true),
            ("2026-09-18T14:00:00Z", false), ("2026-09-18T15:00:00Z", false),
        ])
    func active(_ now: String, _ isActive: Bool) {
        #expect(blocks(["18T09:23:00", "18T10:53:00"], at: now).blocks[0].isActive == isActive)
    }

    @Test("the rate is from the first to the last request, and projected to the end")
    func forecast() throws {
        // 20,000 tokens in 20 minutes, of which 2,000 are input and output; at 12:00 three hours are left.
        let blocks = blocks(["18T10:00:00", "18T10:20:00"], at: "2026-09-18T12:00:00Z")
        let block = blocks.blocks[0]
        let rate = try #require(block.rate(.calculate))
        #expect(rate.tokens == 1_000)
        #expect(rate.uncachedTokens == 100)
        // Cached input costs what other input does: $1 per million. 20,000 tokens are $0.02, in an hour $0.06.
        #expect(abs(rate.dollarsPerHour - 0.06) < 1e-12)
        // 20,000 + 180 × 1,000 tokens; $0.02 + 3 × $0.06.
        #expect(
            block.projection(.calculate, at: blocks.now)
                == UsageBlocks.Projection(tokens: 200_000, dollars: 0.2, minutes: 180))
        #expect(block.rate(.display)?.dollarsPerHour == 0)
    }

    @Test("one request has no rate, and a finished block neither")
    func noForecast() {
        let now = "2026-09-18T12:00:00Z"
        #expect(blocks(["18T10:00:00"], at: now).blocks[0].rate(.auto) == nil)
        #expect(blocks(["17T10:00:00", "17T10:30:00"], at: now).blocks[0].rate(.auto) == nil)
        #expect(blocks(["17T10:00:00"], at: now).blocks[0].projection(.auto, at: 0) == nil)
    }

    @Test("the limit of the largest block does not depend on what is shown")
    func limit() {
        var blocks = blocks(
            ["10T10:00:00", "10T10:01:00", "18T10:00:00", "18T10:20:00", "18T10:40:00"],
            at: "2026-09-18T12:00:00Z")
        #expect(blocks.largest == 20_000)
        #expect(blocks.blocks.count == 3)
        blocks.keepRecent()
        #expect(times(blocks) == ["18 10:00–18 15:00 active"])
        blocks.keepActive()
        #expect(blocks.blocks.count == 1)
        let limit = UsageBlocks.Limit(tokens: 100)
        #expect([80, 81, 100, 101].map { limit.status(of: $0) } == [.ok, .warning, .warning, .exceeds])
        #expect(UsageBlocks.Limit(tokens: 0).percent(of: 5) == 0)
    }

    @Test("blocks are chosen by the day of their start in the zone")
    func range() {
        // 18:00 UTC is 23:45 in Kathmandu, 23:00 is of the next day.
        var kathmandu = query("Asia/Kathmandu")
        kathmandu.since = CalendarDay("2026-09-18")
        let all = ["17T18:45:00", "17T23:10:00"]
        #expect(times(blocks(all, query: kathmandu)) == ["17 23:00–18 04:00"])
        kathmandu.since = nil
        kathmandu.until = CalendarDay("2026-09-17")
        #expect(times(blocks(all, query: kathmandu)) == ["17 18:00–17 23:00"])
        kathmandu.until = nil
        kathmandu.isDescending = true
        #expect(times(blocks(all, query: kathmandu)) == ["17 23:00–18 04:00", "17 18:00–17 23:00"])
    }

    @Test("a block has the length that was asked for")
    func length() {
        #expect(
            times(blocks(["18T09:23:00", "18T10:59:00", "18T11:10:00"], hours: 2))
                == ["18 09:00–18 11:00", "18 11:00–18 13:00"])
    }

    @Test("the sample home has one block, 09:00 to 14:00")
    func sample() throws {
        let home = try SampleHome(copying: "claude/usual")
        let environment = home.environment()
        let usage = TokenLedger(of: ["claude"], in: environment).update(in: environment, prices: .packaged)
        let now = Int64(sampleNow.timeIntervalSince1970) * 1_000
        let blocks = UsageBlocks(usage, query: query(), at: now)
        #expect(times(blocks) == ["18 09:00–18 14:00 active"])
        #expect(blocks.blocks[0].total.counts.total == 38_275)
        #expect(blocks.blocks[0].total.requestCount == 6)
    }

    /// By the rules, request by request.
    @Test("sums by a quarter of an hour give the blocks that single requests give")
    func equivalence() {
        for seed in 0..<20 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            func random(_ bound: Int64) -> Int64 { .random(in: 0..<bound, using: &generator) }
            var time = milliseconds("2026-09-01T00:00:00Z")
            var invented = InventedUsage()
            var requests: [Int64] = []
            for _ in 0..<200 {
                time += random(10) == 0 ? random(40_000_000) : random(2_000_000)
                requests.append(time)
                invented.add(ReportClock.utc(time), session: "\(random(3))", project: "\(random(2))")
            }
            let found = UsageBlocks(invented.usage, query: query(), at: 0).blocks
            var expected: [(start: Int64, end: Int64, count: Int)] = []
            var last = Int64.min
            for request in requests {
                let isGap = last > 0 && request - last > 18_000_000
                if let block = expected.last, request <= block.end, !isGap {
                    expected[expected.count - 1].count += 1
                } else {
                    if isGap { expected.append((last + 18_000_000, request, 0)) }
                    let start = request / 3_600_000 * 3_600_000
                    expected.append((start, start + 18_000_000, 1))
                }
                last = request
            }
            #expect(found.map(\.start) == expected.map(\.start), "seed \(seed)")
            #expect(found.map(\.end) == expected.map(\.end), "seed \(seed)")
            #expect(found.map(\.total.requestCount) == expected.map(\.count), "seed \(seed)")
        }
    }
}
