import Essentials
import KVStoreEssentials
import SnapshotModels
import UsageState

extension DemoUsage {
    /// Invented content for every section of the live viewer.
    static func live(at now: Date) -> LiveData {
        let snapshot = snapshot(at: now)
        let usage = data(at: now)
        return LiveData(
            usage: usage,
            account: LiveData.Account(
                name: "demo", daemon: "https://kvs.example.test:7443", device: "laptop", isFromEnvironment: false),
            server: .known([
                KnownDevice(id: "1", name: snapshot.deviceName, isConnected: true, lastSeen: now),
                KnownDevice(id: "2", name: "laptop", isConnected: true, lastSeen: now),
                KnownDevice(id: "3", name: "tablet", isConnected: false, lastSeen: now.addingTimeInterval(-9_000)),
            ]),
            keys: keys(snapshot, at: now),
            series: PlotSeries.all(of: usage.history, since: now.addingTimeInterval(-HistorySection.period)))
    }

    private static func keys(_ snapshot: SyncedUsageSnapshot, at now: Date) -> [LiveData.StoredKey] {
        let usage = (try? SnapshotCodec.encode(snapshot)) ?? Data()  // Invented data always has a form.
        let values: [(key: String, value: PropertyListValue, age: Double)] = [
            (SyncedUsageSnapshot.storeKey(deviceID: "demo"), .data(usage), 40),
            ("editor.fontSize", .integer(14), 7_200),
            ("editor.recent", .array([.string("notes.md"), .string("plan.md")]), 600),
            ("greeting", .string("Hello, wide 世界 and emoji 🎈"), 86_400 * 3),
            ("window", .dictionary(["wide": .bool(true), "ratio": .double(1.5)]), 5_400),
        ]
        return values.enumerated().map { index, entry in
            let date = now.addingTimeInterval(-entry.age)
            let replica = ReplicaID(rawValue: index == 0 ? 0xD0 : 0xA1)
            let stamp = StoreStamp(
                milliseconds: Int64(date.timeIntervalSince1970 * 1_000), counter: 0, replica: replica)
            return LiveData.StoredKey(
                key: entry.key, bytes: entry.value.encoded(), setAt: date,
                stamp: stamp.description, writer: replica.description, isOwn: index > 0)
        }
    }
}
