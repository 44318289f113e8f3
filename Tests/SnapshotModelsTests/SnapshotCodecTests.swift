import Foundation
import SnapshotModels
import Testing

@Suite("The snapshot codec")
struct SnapshotCodecTests {
    let now = Date(timeIntervalSince1970: 1_789_732_800)

    func snapshot(_ providers: [ProviderUsageSnapshot]) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(providers: providers, syncTimestamp: now, deviceName: "box")
    }

    @Test("a provider survives a round trip")
    func provider() throws {
        let provider = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude",
            primary: SyncRateWindow(usedPercent: 42.5, windowMinutes: 300, resetsAt: now),
            secondary: SyncRateWindow(usedPercent: 15, windowMinutes: 10_080),
            accountEmail: "dev@example.test", loginMethod: "Max 5x", lastUpdated: now)
        let read = try SnapshotCodec.decode(SnapshotCodec.encode(snapshot([provider])))
        #expect(read.providers == [provider])
        #expect(read.providers[0].primary?.remainingPercent == 57.5)
        #expect(read.providers[0].secondary?.usedPercent == 15)
    }

    @Test("a whole snapshot with an error provider survives a round trip")
    func wholeSnapshot() throws {
        let failing = ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", primary: SyncRateWindow(usedPercent: 80),
            statusMessage: "synthetic error", isError: true, lastUpdated: now)
        let quiet = ProviderUsageSnapshot(providerID: "gemini", providerName: "Gemini", lastUpdated: now)
        let whole = snapshot([failing, quiet])
        #expect(try SnapshotCodec.decode(SnapshotCodec.encode(whole)) == whole)
    }

    @Test("the daemon's id of a device survives a round trip and a merge, and other readers see what they know")
    func daemonDeviceID() throws {
        /// What CodexBar's reader decodes.
        struct Known: Decodable, Equatable {
            var providers: [ProviderUsageSnapshot]
            var syncTimestamp: Date
            var deviceName: String
            var deviceID: String?
            var appVersion: String?
        }
        var own = snapshot([ProviderUsageSnapshot(providerID: "p", providerName: "P", lastUpdated: now)])
        own.deviceID = "d"
        let former = try SnapshotCodec.encode(own)
        #expect(!String(decoding: former, as: UTF8.self).contains("daemonDeviceID"))
        #expect(try SnapshotCodec.decode(former) == own)
        own.daemonDeviceID = "00000000000000a1"
        let data = try SnapshotCodec.encode(own)
        #expect(try SnapshotCodec.decode(data) == own)
        #expect(SnapshotMerge.merge([own], now: now).devices[0].daemonDeviceID == "00000000000000a1")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Known.self, from: data) == decoder.decode(Known.self, from: former))
    }

    @Test("the remaining percent is at least zero and not clamped above")
    func remaining() {
        #expect(SyncRateWindow(usedPercent: 150).remainingPercent == 0)
        #expect(SyncRateWindow(usedPercent: -5).remainingPercent == 105)
    }

    @Test("an empty provider list is a snapshot")
    func empty() throws {
        let data = try SnapshotCodec.encode(snapshot([]))
        #expect(data.count < SnapshotLimits.documentBytes)
        #expect(try SnapshotCodec.decode(data) == snapshot([]))
    }

    @Test("ten providers with thirty cost days each stay under the limit")
    func tenProviders() throws {
        let days = (1...30).map { day in
            SyncDailyCost(
                dayKey: "2026-09-\(day)", costUSD: 12.345, totalTokens: 1_234_567,
                modelBreakdowns: (1...10).map {
                    SyncCostBreakdown(label: "some-long-model-name-\($0)", costUSD: 1.25)
                })
        }
        let providers = (1...10).map {
            ProviderUsageSnapshot(
                providerID: "p\($0)", providerName: "P\($0)", lastUpdated: now,
                costSummary: SyncCostSummary(last30DaysCostUSD: 1, daily: days))
        }
        let data = try SnapshotCodec.encode(snapshot(providers))
        #expect(data.count < SnapshotLimits.documentBytes)
        #expect(try SnapshotCodec.decode(data).providers == providers)
    }

    @Test("the bytes are sorted, dates are whole seconds of UTC, absent values are left out")
    func bytes() throws {
        let provider = ProviderUsageSnapshot(
            providerID: "x", providerName: "a/b", lastUpdated: now.addingTimeInterval(0.9))
        let text = String(decoding: try SnapshotCodec.encode(snapshot([provider])), as: UTF8.self)
        #expect(
            text == #"{"deviceName":"box","providers":[{"isError":false,"#
                + #""lastUpdated":"2026-09-18T12:00:00Z","providerID":"x","providerName":"a/b"}],"#
                + #""syncTimestamp":"2026-09-18T12:00:00Z"}"#)
    }

    @Test("numbers that JSON cannot express are left out")
    func nonFinite() throws {
        let provider = ProviderUsageSnapshot(
            providerID: "x", providerName: "X", primary: SyncRateWindow(usedPercent: .nan),
            lastUpdated: Date(timeIntervalSince1970: .infinity),
            rateWindows: [.init(usedPercent: .infinity), .init(usedPercent: 7)],
            costSummary: SyncCostSummary(sessionCostUSD: .nan, sessionTokens: 3),
            budget: SyncBudget(usedAmount: .nan, limitAmount: 1, currencyCode: "USD"),
            credits: SyncCredits(balance: -.infinity))
        let read = try SnapshotCodec.decode(SnapshotCodec.encode(snapshot([provider]))).providers[0]
        #expect(read.primary == nil)
        #expect(read.rateWindows == [.init(usedPercent: 7)])
        #expect(read.costSummary == SyncCostSummary(sessionTokens: 3, daily: []))
        #expect(read.budget == nil)
        #expect(read.credits == SyncCredits())
        #expect(read.lastUpdated.timeIntervalSince1970 == 253_402_300_799)
    }

    @Test("a document over the limit is rejected with its size and the limit")
    func tooLarge() throws {
        let provider = ProviderUsageSnapshot(
            providerID: "x", providerName: "X",
            statusMessage: String(repeating: "a", count: 1_048_576), lastUpdated: now)
        #expect {
            try SnapshotCodec.encode(snapshot([provider]))
        } throws: { error in
            guard case .tooLarge(let bytes, 1_048_576) = error as? SnapshotCodecError else { return false }
            return bytes > 1_048_576 && "\(error)".contains("\(bytes)")
        }
        #expect(throws: SnapshotCodecError.tooLarge(bytes: 1_048_577, limit: 1_048_576)) {
            try SnapshotCodec.decode(Data(repeating: 0x20, count: 1_048_577))
        }
    }

    @Test("a document of exactly the limit is encoded and decoded")
    func atTheLimit() throws {
        var value = snapshot([])
        let spare = 1_048_576 - (try SnapshotCodec.encode(value).count)
        value.deviceName += String(repeating: "a", count: spare)
        let data = try SnapshotCodec.encode(value)
        #expect(data.count == 1_048_576)
        #expect(try SnapshotCodec.decode(data) == value)
    }

    @Test("generated snapshots survive a round trip", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func generated(seed: UInt64) throws {
        var generated = GeneratedSnapshots(seed: seed)
        for round in 1...60 {
            let value = generated.snapshot()
            let read = try SnapshotCodec.decode(SnapshotCodec.encode(value))
            try #require(read == value.normalized(), "seed \(seed) round \(round)")
            let again = try SnapshotCodec.encode(read)
            let first = try SnapshotCodec.encode(value)
            try #require(again == first, "seed \(seed) round \(round)")
        }
    }

    @Test("truncated and corrupted documents are rejected or decoded, never trap", arguments: [11, 12])
    func damaged(seed: UInt64) throws {
        var generated = GeneratedSnapshots(seed: seed)
        for _ in 1...40 {
            var data = try SnapshotCodec.encode(generated.snapshot())
            for _ in 1...6 where !data.isEmpty {
                let index = generated.int(0...data.count - 1)
                data[index] = UInt8(generated.int(0...255))
                _ = SnapshotCodec.read(data)
                data = data.prefix(data.count - generated.int(0...3))
            }
            _ = SnapshotCodec.read(data)
        }
    }
}
