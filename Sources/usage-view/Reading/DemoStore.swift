import Essentials
import KVStoreEssentials
import SnapshotModels
import UsageState

extension DemoUsage {
    /// Invented content for every section of the live viewer.
    static func live(at now: Date) -> LiveData {
        let snapshot = snapshot(at: now)
        return LiveData(
            usage: data(at: now),
            account: LiveData.Account(
                name: "demo", daemon: "https://kvs.example.test:7443", device: "laptop",
                isFromEnvironment: false),
            server: .known([
                LiveData.Device(
                    name: snapshot.deviceName, isConnected: true, lastSeen: now),
                LiveData.Device(name: "laptop", isConnected: true, lastSeen: now),
                LiveData.Device(
                    name: "tablet", isConnected: false, lastSeen: now.addingTimeInterval(-9_000)),
            ]),
            keys: keys(snapshot, at: now), series: series(snapshot, at: now))
    }

    private static func keys(
        _ snapshot: SyncedUsageSnapshot, at now: Date
    ) -> [LiveData.StoredKey] {
        let usage = (try? SnapshotCodec.encode(snapshot)) ?? Data()
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
            let stamp = Stamp(
                milliseconds: Int64(date.timeIntervalSince1970 * 1_000), counter: 0,
                replica: replica)
            return LiveData.StoredKey(
                key: entry.key, bytes: entry.value.encoded(), setAt: date,
                stamp: stamp.description, writer: replica.description, isOwn: index > 0)
        }
    }

    /// A working week in every window: used by day, not at night, and once up to the limit.
    private static func series(
        _ snapshot: SyncedUsageSnapshot, at now: Date
    ) -> [PlotSeries] {
        let step = 1_800.0
        return snapshot.providers.flatMap { provider in
            provider.windows.map { window in
                let length = Double(window.windowMinutes ?? 10_080) * 60
                let end = window.resetsAt ?? now
                let label = WindowLabel(of: window).text
                var series = PlotSeries(
                    providerID: provider.providerID, account: provider.accountEmail, label: label,
                    samples: [])
                var (percent, former) = (0.0, 0)
                let start = now.addingTimeInterval(-HistorySection.period)
                for time in stride(from: start, through: now, by: step) {
                    let period = Int((end.timeIntervalSince(time) / length).rounded(.down))
                    if period != former, !series.samples.isEmpty {
                        percent = 0
                        series.resets.append(time)
                    }
                    former = period
                    let hour = Int(time.timeIntervalSince1970 / 3_600) % 24
                    let isWorking = (8..<18).contains(hour)
                    let before = percent
                    if isWorking { percent += step / length * (length < 86_400 ? 110 : 220) }
                    percent = min(percent, 100)
                    if percent >= 100, before < 100 { series.reached.append(time) }
                    let isGap = hour == 3
                    series.samples.append(
                        PlotSeries.Sample(date: time, percent: isGap ? nil : percent))
                }
                series.samples.append(PlotSeries.Sample(date: now, percent: window.usedPercent))
                return series
            }
        }
    }
}
