import Foundation
import KVStoreEssentials
import KVStoreHTTP
import TestSupport
import SnapshotModels
import Testing
import UsagePusher
import UsageState

@testable import usage_push

@Suite("History beside the limits in a store", .temporaryHome)
struct HistorySinkTests {
    private static let id = "DD6E2AE4-7BD6-4F4C-9C75-B0E5CB0A94C6"
    private static let key = UsageHistory.storeKey(deviceID: id)

    private func withSink(_ body: (StoreSink) throws -> Void) throws {
        let home = TemporaryHome.ofTest
        let sink = try StoreSink(
            environment: StoreEnvironment(home: home.path), storeName: "default", deviceID: Self.id, isLive: false)
        defer { sink.close() }
        try body(sink)
    }

    private func snapshot(quarter: Int) -> SyncedUsageSnapshot {
        let time = Date(timeIntervalSince1970: 1_789_732_800 + Double(quarter) * 900)
        let provider = ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", lastUpdated: time,
            rateWindows: [SyncRateWindow(usedPercent: Double(quarter % 90), windowMinutes: 10_080)])
        return SyncedUsageSnapshot(providers: [provider], syncTimestamp: time, deviceName: "box", deviceID: Self.id)
    }

    private func push(_ quarter: Int, to sink: StoreSink) throws {
        let snapshot = snapshot(quarter: quarter)
        try SnapshotPublisher(sink: sink).publish(snapshot, at: snapshot.syncTimestamp)
    }

    @Test("a push writes both, each under its own key")
    func both() throws {
        try withSink { sink in
            try push(0, to: sink)
            #expect(
                sink.store.keys.sorted()
                    == [
                        Self.key, SyncedUsageSnapshot.storeKey, SyncedUsageSnapshot.storeKey(deviceID: Self.id),
                    ].sorted())
            #expect(try sink.otherDeviceSnapshots().count == 1)
        }
    }

    @Test("in a store that is three quarters full only the limits are written")
    func threeQuarters() throws {
        try withSink { sink in
            try sink.store.write(.data(Data(count: 786_432)), forKey: "other")
            try push(0, to: sink)
            #expect(sink.store.data(forKey: Self.key) == nil)
            #expect(sink.store.data(forKey: SyncedUsageSnapshot.storeKey) != nil)
            // What is recorded meanwhile is not lost.
            try sink.store.write(nil, forKey: "other")
            try push(1, to: sink)
            let value = try #require(sink.store.data(forKey: Self.key))
            let window = try HistoryCodec.decode(value).windows.values.first
            #expect(window?.timeline.compactMap(\.slot.level?.percent) == [0, 1])
        }
    }

    @Test("limits that find the store full take the place of history")
    func full() throws {
        try withSink { sink in
            for quarter in 0..<300 { try push(quarter, to: sink) }
            let used = sink.store.status.usedByteCount
            try sink.store.write(.data(Data(count: 1_048_576 - used)), forKey: "other")
            #expect(throws: StoreError.self) { try sink.store.write(.data(Data(count: 1)), forKey: "more") }
            let history = sink.store.data(forKey: Self.key)
            let larger = Data(count: 500)
            let limits = SyncedUsageSnapshot.storeKey(deviceID: Self.id)
            #expect((sink.store.data(forKey: limits)?.count ?? 0) < larger.count)
            #expect(throws: StoreError.self) {
                try sink.put([limits: Data(count: 100_000)], of: snapshot(quarter: 299))
            }
            #expect(history != nil && sink.store.data(forKey: Self.key) == history)
            try sink.put([limits: larger], of: snapshot(quarter: 299))
            #expect(sink.store.data(forKey: limits) == larger)
            #expect(sink.store.data(forKey: Self.key) == nil)
        }
    }
}
