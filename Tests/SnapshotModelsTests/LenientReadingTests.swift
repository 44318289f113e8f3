import Foundation
import SnapshotModels
import Testing

@Suite("Lenient decoding")
struct LenientReadingTests {
    let noon = Date(timeIntervalSince1970: 1_789_732_800)

    func read(providers: String, top: String = "") throws -> SnapshotReading {
        let text =
            #"{"providers":[\#(providers)],"syncTimestamp":"2026-09-18T12:00:00Z","#
            + #""deviceName":"box"\#(top)}"#
        return try SnapshotCodec.decodeCountingSkips(Data(text.utf8))
    }

    func provider(_ fields: String) -> String {
        #"{"providerID":"x","providerName":"X","isError":false,"# + #""lastUpdated":"2026-09-18T12:00:00Z",\#(fields)}"#
    }

    func window(_ fields: String) throws -> SyncRateWindow? {
        try read(providers: provider(#""primary":{\#(fields)}"#)).snapshot.providers[0].primary
    }

    @Test("the first format decodes with keys left out and with explicit nulls")
    func firstFormat() throws {
        let first = try SnapshotCodec.decode(Fixture.data("snapshot/v0-first.json"))
        #expect(first.providers.map(\.providerID) == ["claude", "codex"])
        #expect(first.providers[0].windows.map(\.usedPercent) == [42.5, 15])
        #expect(first.providers[1].isError)
        #expect(first.syncTimestamp == noon)
        let nulls = try SnapshotCodec.decode(Fixture.data("snapshot/v0-doc-nulls.json"))
        #expect(nulls.providers[0].primary == first.providers[0].primary)
        #expect(nulls.providers[0].secondary == nil)
        #expect(nulls.providers[0].statusMessage == nil)
    }

    @Test("the format of March 2026 decodes, and rateWindows override primary and secondary")
    func march() throws {
        let reading = try SnapshotCodec.decodeCountingSkips(Fixture.data("snapshot/v1-march-2026.json"))
        let claude = reading.snapshot.providers[0]
        #expect(claude.windows.map(\.label) == ["Session", "Weekly", "Sonnet"])
        #expect(claude.costSummary?.last30DaysTokens == 1_245_000)
        #expect(claude.costSummary?.daily?.first?.modelBreakdowns == nil)
        #expect(claude.budget?.limitAmount == 20)
        #expect(reading.snapshot.mobileVersion == "0.1.0")
        #expect(reading.skippedProviders == 0 && reading.skippedWindows == 0)
        let written = String(decoding: try SnapshotCodec.encode(reading.snapshot), as: UTF8.self)
        #expect(!written.contains("syncVersion"))
        #expect(written.contains(#""mobileVersion":"0.1.0""#))
    }

    @Test("numbers decode from text and fractions, and never trap")
    func numbers() throws {
        let odd = try window(#""usedPercent":" 42.5 ","windowMinutes":299.6"#)
        #expect(odd?.usedPercent == 42.5 && odd?.windowMinutes == 300)
        #expect(try window(#""usedPercent":1,"windowMinutes":"300""#)?.windowMinutes == 300)
        for huge in ["1e300", "1e999", "99999999999999999999", "-7", "0", "\"x\"", "[1]", "true"] {
            let read = try window(#""usedPercent":1,"windowMinutes":\#(huge)"#)
            #expect(read == SyncRateWindow(usedPercent: 1), "\(huge)")
        }
    }

    @Test("a window without a readable percent is left out and counted")
    func badWindow() throws {
        for bad in ["null", #""many""#, "1e999", "{}", #""nan""#] {
            let reading = try read(
                providers: provider(#""rateWindows":[{"usedPercent":\#(bad)},{"usedPercent":5},null]"#))
            #expect(reading.snapshot.providers[0].rateWindows?.map(\.usedPercent) == [5])
            #expect(reading.skippedWindows == 2)
        }
        #expect(try read(providers: provider(#""secondary":7"#)).skippedWindows == 1)
    }

    @Test("a bad provider does not affect the others")
    func badProvider() throws {
        let good = provider(#""unknownField":{"a":[1,2]}"#)
        let reading = try read(providers: #"null,5,"x",[],{"providerID":7},\#(good),{"providerID":"y"}"#)
        #expect(reading.snapshot.providers.map(\.providerID) == ["x"])
        #expect(reading.skippedProviders == 6)
    }

    @Test("a wrong type in an optional field affects only that field")
    func wrongTypes() throws {
        let reading = try read(
            providers: provider(
                #""accountEmail":5,"loginMethod":"\ud800","budget":[],"costSummary":{"daily":"#
                    + #"[{"dayKey":"d","totalTokens":"12"},{"costUSD":1}],"sessionTokens":1e40},"#
                    + #""credits":{"balance":"128.50"},"usageDataConfidence":"invented""#))
        let read = try #require(reading.snapshot.providers.first)
        #expect(read.accountEmail == nil && read.loginMethod == nil && read.budget == nil)
        #expect(read.costSummary?.daily == [SyncDailyCost(dayKey: "d", totalTokens: 12)])
        #expect(read.costSummary?.sessionTokens == nil)
        #expect(read.credits == SyncCredits(balance: 128.5))
        #expect(read.usageDataConfidence == "invented")
    }

    @Test(
        "dates decode from every form that writers have used",
        arguments: [
            #""2026-09-18T12:00:00Z""#, #""2026-09-18T12:00:00.081713Z""#,
            #""2026-09-18T14:00:00+02:00""#, #""2026-09-18T07:30:00.5-0430""#,
            #""2026-09-18 12:00:00Z""#, #""2026-09-18T12:00Z""#, "1789732800",
            "1789732800.75", "1789732800123", #""1789732800""#,
        ])
    func dates(text: String) throws {
        #expect(try window(#""usedPercent":1,"resetsAt":\#(text)"#)?.resetsAt == noon)
    }

    @Test(
        "text that is not a date is nil",
        arguments: [
            #""soon""#, #""2026-02-29T12:00:00Z""#, #""2026-13-01T00:00:00Z""#,
            #""2026-09-18T24:00:00Z""#, #""2026-09-18""#, #""2026-09-18T12:00:00Zx""#, "1e300",
            "-5", #""""#, #""2026-09-18T12:00:00+""#, "true", "[]",
        ])
    func noDates(text: String) throws {
        let read = try window(#""usedPercent":1,"resetsAt":\#(text)"#)
        #expect(read == SyncRateWindow(usedPercent: 1))
    }

    @Test("dates agree with Foundation's calendar over four centuries")
    func calendar() throws {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: 0, to: 146_097, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_661)
            let text = formatter.string(from: date)
            #expect(try window(#""usedPercent":1,"resetsAt":"\#(text)""#)?.resetsAt == date)
        }
    }

    @Test("providers and windows beyond the limit are counted, not decoded")
    func countLimits() throws {
        let many = Array(repeating: provider(#""primary":null"#), count: 300)
        let reading = try read(providers: many.joined(separator: ","))
        #expect(reading.snapshot.providers.count == 256)
        #expect(reading.skippedProviders == 44)
        let windows = Array(repeating: #"{"usedPercent":1}"#, count: 70).joined(separator: ",")
        let wide = try read(providers: provider(#""rateWindows":[\#(windows)]"#))
        #expect(wide.snapshot.providers[0].windows.count == 64)
        #expect(wide.skippedWindows == 6)
    }

    @Test("a list of 200,000 bad elements is counted, not decoded")
    func hugeLists() throws {
        let bad = Array(repeating: "0", count: 200_000).joined(separator: ",")
        let reading = try read(providers: provider(#""rateWindows":[\#(bad)]"#) + "," + bad)
        #expect(reading.snapshot.providers.count == 1)
        #expect(reading.skippedProviders == 200_000)
        #expect(reading.skippedWindows == 200_000)
    }

    @Test("deep nesting is rejected before parsing; brackets in strings do not count")
    func depth() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: SnapshotCodecError.tooDeep(limit: 64)) {
            try SnapshotCodec.decode(Data(deep.utf8))
        }
        let brackets = String(repeating: "[", count: 500)
        let reading = try read(providers: "", top: #","note":"\"\#(brackets)\\""#)
        #expect(reading.snapshot.providers.isEmpty)
    }

    @Test("an invalid snapshot is nil when read and a specific error when decoded")
    func notASnapshot() {
        #expect(SnapshotCodec.read(nil) == nil)
        let bad = [
            "", "null", "[]", "{}", "not json", #"{"providers":null}"#,
            #"{"providers":[],"syncTimestamp":"never"}"#, #"{"providers":{},"syncTimestamp":0}"#,
        ]
        for text in bad {
            #expect(SnapshotCodec.read(Data(text.utf8)) == nil)
            #expect {
                try SnapshotCodec.decode(Data(text.utf8))
            } throws: { error in
                if case .notASnapshot = error as? SnapshotCodecError { true } else { false }
            }
        }
        let wide = Data("{\"providers\":[]}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        #expect(SnapshotCodec.read(wide) == nil)
    }
}
