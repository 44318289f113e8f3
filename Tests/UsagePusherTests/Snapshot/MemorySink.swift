import Foundation
import SnapshotModels
import Synchronization

@testable import UsagePusher

let testNow = Date(timeIntervalSince1970: 1_789_732_800)

/// A source that reads a percent from a file.
struct PercentSource: UsageSource {
    var providerID: String
    var providerName: String { providerID.capitalized }
    var path: String

    init(_ providerID: String, path: String) {
        self.providerID = providerID
        self.path = path
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] { [WatchedPath(path)] }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let percent = Double(text)
        else { return SourceReading(isInstalled: false) }
        let window = SyncRateWindow(usedPercent: percent, windowMinutes: 300)
        return SourceReading(
            isInstalled: true,
            providers: [
                ProviderUsageSnapshot(
                    providerID: providerID, providerName: providerName, lastUpdated: now, rateWindows: [window])
            ])
    }
}

/// A store in memory that throws on demand.
final class MemorySink: SnapshotSink {
    struct Refusal: Error {}

    private let state = Mutex(State())

    private struct State {
        var values: [String: Data] = [:]
        var refusals = 0
        var putCount = 0
    }

    var values: [String: Data] { state.withLock { $0.values } }

    func snapshot(_ key: String = SyncedUsageSnapshot.storeKey) -> SyncedUsageSnapshot? {
        SnapshotCodec.read(values[key])
    }

    func refuseNext(_ count: Int) { state.withLock { $0.refusals = count } }

    func put(_ values: [String: Data], of snapshot: SyncedUsageSnapshot) throws {
        try state.withLock { state in
            if state.refusals > 0 {
                state.refusals -= 1
                throw Refusal()
            }
            state.values.merge(values) { $1 }
            state.putCount += 1
        }
    }

    /// What another device or program has written.
    func receive(_ data: Data, forKey key: String) { state.withLock { $0.values[key] = data } }

    /// How many pushes have been stored.
    var putCount: Int { state.withLock { $0.putCount } }

    func otherDeviceSnapshots() throws -> [Data] {
        values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }.map(\.value)
    }
}
