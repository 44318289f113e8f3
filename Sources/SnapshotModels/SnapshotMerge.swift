public import Foundation

/// Merges the snapshots of several devices to one view.
///
/// The value that merges is the *set* of device snapshots: of two from the same device the newer
/// stays. The view is a pure function of that set and of `now`. From this follow the laws that
/// hold here: order does not matter, grouping does not matter, repeating a snapshot changes
/// nothing. A merged view must not be merged again (its costs are sums already), which is why
/// `devices(own:shared:)` keeps it out.
///
/// Rules per provider account (see `AccountGroups` for what one account is):
/// - Windows, confidence and `lastUpdated` come from one reading, never mixed and never summed:
///   the newest reading with a window that is not past its reset; without any such reading, the
///   newest one, whatever it holds. So a newest reading that has no windows (an error, a file in
///   between) does not blank numbers that are still valid.
/// - Error, status text: the newest reading. Plan, account, credits, budget: the newest reading
///   that has one.
/// - Costs and tokens are summed over devices for `localLogProviders` only, whose logs are per
///   device; for the others the number is account-wide, so the newest stands. A device whose
///   snapshot is older than 30 days takes no part in a sum.
/// - "Newest" is by `lastUpdated`. A reading more than 60 s ahead of `now` has a wrong clock and
///   ranks below every reading that has not, or it would win for ever. Equal times: the device
///   with the greater key.
public enum SnapshotMerge {
    /// Providers whose costs come from logs on each device.
    public static let localLogProviders: Set<String> = ["claude", "codex", "vertexai"]
    /// How far ahead of `now` a time may be before its clock counts as wrong, in seconds.
    public static let clockTolerance: TimeInterval = 60
    /// Age from which a snapshot's costs are no part of a sum any more, in seconds.
    static let costAgeLimit: TimeInterval = 30 * 86_400

    /// One view of all `snapshots`, each the own snapshot of one device.
    public static func merge(_ snapshots: [SyncedUsageSnapshot], now: Date) -> MergedUsage {
        let devices = newestPerDevice(snapshots)
        let readings = devices.flatMap { device in
            device.snapshot.providers.enumerated().map { index, provider in
                Reading(device: device, index: index, provider: provider, now: now)
            }
        }
        return MergedUsage(
            providers: AccountGroups.grouped(readings).map { merged($0, now: now) },
            devices: devices.map {
                MergedDevice(
                    deviceID: $0.snapshot.deviceID, name: $0.snapshot.deviceName,
                    syncTimestamp: $0.snapshot.syncTimestamp,
                    appVersion: $0.snapshot.appVersion,
                    providerCount: $0.snapshot.providers.count)
            },
            syncTimestamp: newestTime(devices.map(\.snapshot.syncTimestamp), now: now))
    }

    /// The snapshots to merge, from the devices' own keys and the shared key.
    ///
    /// The shared key holds either a merged view of the same devices, which is left out, or the
    /// snapshot of a writer that knows only that key, which is a device of its own. It is a merged
    /// view when it carries the id of a known device, or one of its names is that of a known one.
    public static func devices(
        own: [SyncedUsageSnapshot], shared: SyncedUsageSnapshot?
    ) -> [SyncedUsageSnapshot] {
        guard let shared else { return own }
        let names = Set(own.map(\.deviceName))
        let sharedNames = shared.deviceName.components(separatedBy: ", ")
        let isMergedView =
            own.contains { $0.deviceID != nil && $0.deviceID == shared.deviceID }
            || names.contains(shared.deviceName)
            || sharedNames.contains { names.contains($0) }
        return isMergedView ? own : own + [shared]
    }

    private static func newestPerDevice(_ snapshots: [SyncedUsageSnapshot]) -> [DeviceSnapshot] {
        var newest: [String: DeviceSnapshot] = [:]
        for snapshot in snapshots {
            let candidate = DeviceSnapshot(snapshot)
            if let held = newest[candidate.key], !candidate.isNewer(than: held) { continue }
            newest[candidate.key] = candidate
        }
        return newest.values.sorted {
            ($0.snapshot.deviceName, $0.key) < ($1.snapshot.deviceName, $1.key)
        }
    }

    private static func newestTime(_ times: [Date], now: Date) -> Date? {
        let limit = now.addingTimeInterval(clockTolerance)
        return times.filter { $0 <= limit }.max() ?? times.max()
    }

    private static func merged(_ readings: [Reading], now: Date) -> MergedProvider {
        let newestFirst = readings.sorted { $1.rank < $0.rank }
        let newest = newestFirst[0]
        let source = newestFirst.first { $0.hasLiveWindow(at: now) } ?? newest
        func newestValue<Value>(_ field: KeyPath<ProviderUsageSnapshot, Value?>) -> Value? {
            newestFirst.lazy.compactMap { $0.provider[keyPath: field] }.first
        }

        var snapshot = source.provider
        snapshot.providerName = newest.provider.providerName
        snapshot.accountEmail = newestFirst.lazy.compactMap(\.account?.shown).first
        snapshot.loginMethod = newestValue(\.loginMethod)
        snapshot.statusMessage = newest.provider.statusMessage
        snapshot.isError = newest.provider.isError
        snapshot.credits = newestValue(\.credits)
        snapshot.budget = newestValue(\.budget)
        if localLogProviders.contains(snapshot.providerID) {
            let counted = readings.filter {
                now.timeIntervalSince($0.device.snapshot.syncTimestamp) <= costAgeLimit
            }
            snapshot.costSummary = SyncCostSummary.sum(counted.compactMap(\.provider.costSummary))
        } else {
            snapshot.costSummary = newestValue(\.costSummary)
        }
        return MergedProvider(
            snapshot: snapshot,
            parts: readings.map {
                ProviderPart(
                    deviceID: $0.device.snapshot.deviceID,
                    deviceName: $0.device.snapshot.deviceName,
                    lastUpdated: $0.provider.lastUpdated,
                    syncTimestamp: $0.device.snapshot.syncTimestamp,
                    suppliesWindows: $0.rank == source.rank,
                    costSummary: $0.provider.costSummary)
            })
    }
}
