import Foundation
import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOHTTP1
import SnapshotModels
import Testing
import UsageState

@testable import UsageServer

@Suite("The query of GET /v1/usage")
struct UsageQueryTests {
    @Test(
        "the form is the one that the client likes best, otherwise JSON",
        arguments: [
            ("", .json), ("*/*", .json), ("text/plain", .text), ("image/svg+xml", .svg),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .json),
            ("image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8", .svg),
            ("application/json;q=0.5, text/plain;q=0.9", .text),
            ("application/json, text/plain, */*", .json),
            ("TEXT/PLAIN ; charset=utf-8 ; q=1", .text), ("text/plain;q=0", .json),
            ("text/plain;q=nan", .json), (",;q,=", .json),
        ] as [(String, UsageQuery.Format)])
    func accepting(accept: String, format: UsageQuery.Format) {
        #expect(UsageQuery.Format(accept: accept) == format)
    }

    private static func query(_ text: String) throws -> UsageQuery {
        try UsageQuery(
            Request(
                method: .GET, fields: RequestFields(HTTPHeaders()), target: "/v1/usage?\(text)",
                resource: .additional(UsageEndpoint()), query: text[...], device: nil, address: "test"))
    }

    @Test("cards are kept until newer ones of the same query replace them")
    func kept() throws {
        let store = StoreID(account: "one", name: "default")
        func devices(_ names: [String]) -> [DaemonDevice] {
            names.map {
                DaemonDevice(deviceID: $0, device: $0, scopes: ["read"], created: 0, lastSeen: 1, connected: true)
            }
        }
        var cache = UsageCache()
        func document(_ query: String, _ names: [String]) throws -> UsageDocument {
            try cache.document(
                of: store, in: [], for: Self.query("format=cards&" + query), devices: devices(names),
                now: Date(timeIntervalSince1970: 1_789_732_800))
        }
        let first = try document("zone=Z", ["desk"])
        let elsewhere = try document("zone=+02:00", ["desk"])
        for count in 1...20 {
            let names = (0...count).map { "phone-\($0)" }
            let newer = try document("zone=Z", names)
            #expect(newer.tag != first.tag)
            #expect(try document("zone=Z", names).tag == newer.tag)
        }
        #expect(cache.cards.count == 2)
        #expect(cache.cards[0].document.tag == elsewhere.tag)
    }

    @Test(
        "costs are of the days of the zone that the query names",
        arguments: [
            ("Z", 0), ("+03:30", 0), ("+04:00", 1_000), ("%2B0400", 1_000), ("-11:00", 0),
        ])
    func zones(zone: String, tokens: Int) throws {
        // 2026-09-18T12:00:00Z, and 16 hours before.
        let now = Date(timeIntervalSince1970: 1_789_732_800)
        let hour = 1_789_732_800 / 3_600 - 16
        let provider = ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", lastUpdated: now,
            costSummary: SyncCostSummary(hourly: [SyncHourlyCost(hour: hour, totalTokens: 1_000, costUSD: 1)]))
        let snapshot = SyncedUsageSnapshot(providers: [provider], syncTimestamp: now, deviceName: "desk")
        let document = try UsageDocument(
            UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: now))),
            devices: [], query: try Self.query("zone=\(zone)"), now: now)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(UsageReport.self, from: document.body)
        #expect(report.providers[0].cost?.today.tokens == tokens)
        #expect(report.providers[0].cost?.last30Days.tokens == 1_000)
    }

    @Test(
        "a zone is an offset of at most 18 hours",
        arguments: [
            "", "+", "2", "+2", "+02:0", "+02:60", "+18:01", "02:00", "+ab:cd", "+٠٢٠٠", "+02:00x",
            "Europe/Berlin", "++200",
        ])
    func wrongZones(zone: String) {
        #expect(throws: (any Error).self) {
            try Self.query("zone=" + (zone.addingPercentEncoding(withAllowedCharacters: []) ?? ""))
        }
    }
}
