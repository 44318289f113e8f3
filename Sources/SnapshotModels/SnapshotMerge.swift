public import Essentials

/// Merges the snapshots of several devices into one view.
///
/// The view is a pure function of the *set* of device snapshots (of two from the same device the newer counts) and of
/// `now`. The merge is therefore commutative, associative and idempotent. A merged view must not be merged again, since
/// its costs are sums already: `devices(own:shared:)` leaves it out.
///
/// Rules per provider account (`AccountGroups` defines what one account is; of several with one address, or without
/// any, each is named after its plan too):
/// - Confidence and `lastUpdated` come from one reading: the newest one with a window that has not been reset, else the
///   newest. So a newer reading without windows (an error, say) does not blank numbers that are still valid.
/// - Each window comes from the newest reading that has it, never summed, and states when it was observed if that was
///   earlier: what a newer reading lacks, because its tool states less, counts until its reset. Estimates and what
///   providers state are not mixed.
/// - Error and status text: the newest reading. Plan, account, credits and budget: the newest
///   reading that has one.
/// - Costs and tokens are summed over devices for `localLogProviders`, whose logs are per device, and where a
///   device states hours, which only logs have; for the others the number is account-wide and the newest counts. A
///   device whose snapshot is older than 30 days is left out of sums.
/// - "Newest" is by `lastUpdated`. A reading more than 60 s ahead of `now` has a wrong clock and
///   ranks below all others, or it would win forever. Of equal times the device with the greater
///   key wins.
///
/// ```swift
/// let merged = SnapshotMerge.merge([desk, laptop], now: now)
/// print(merged.devices.map(\.name))                             // ["desk", "laptop"]
/// for provider in merged.providers {
///     print(provider.snapshot.providerName, provider.parts.filter(\.suppliesWindows).map(\.deviceName))
/// }
/// ```
public enum SnapshotMerge {
    /// Providers whose costs come from logs on each device.
    public static let localLogProviders: Set<String> = ["claude", "codex", "vertexai"]
    /// Seconds by which a time may be ahead of `now` before its clock counts as wrong.
    public static let clockTolerance: TimeInterval = 60
    /// Seconds after which a snapshot's costs are left out of sums.
    static let costAgeLimit: TimeInterval = 30 * 86_400

    /// Merges snapshots that are each from one device.
    public static func merge(_ snapshots: [SyncedUsageSnapshot], now: Date) -> MergedUsage {
        merge(snapshots, now: now, areNamedApart: true)
    }

    /// - Parameter areNamedApart: whether accounts with one address, or without any, are named after their plans.
    static func merge(_ snapshots: [SyncedUsageSnapshot], now: Date, areNamedApart: Bool) -> MergedUsage {
        let devices = newestPerDevice(snapshots)
        let readings = devices.flatMap { device in
            device.snapshot.providers.enumerated().map { index, provider in
                MergeReading(device: device, index: index, provider: provider, now: now)
            }
        }
        let groups = AccountGroups.grouped(readings)
        let counts = Dictionary(grouping: groups, by: nameKey).mapValues(\.count)
        return MergedUsage(
            providers: groups.map { group in
                let isShared = counts[nameKey(of: group), default: 0] > 1
                return merged(group, now: now, isNamedApart: areNamedApart && isShared)
            },
            devices: devices.map {
                MergedDevice(
                    deviceID: $0.snapshot.deviceID, name: $0.snapshot.deviceName,
                    syncTimestamp: $0.snapshot.syncTimestamp, appVersion: $0.snapshot.appVersion,
                    daemonDeviceID: $0.snapshot.daemonDeviceID)
            },
            syncTimestamp: newestTime(devices.map(\.snapshot.syncTimestamp), now: now))
    }

    /// The snapshots to merge, from the devices' own keys and the shared key.
    ///
    /// The shared key contains either a merged view of the same devices, which is left out, or the
    /// snapshot of a writer that knows only that key, which counts as a device. It is a merged view
    /// when it has the id of a known device, or one of its names is that of a known device.
    public static func devices(own: [SyncedUsageSnapshot], shared: SyncedUsageSnapshot?) -> [SyncedUsageSnapshot] {
        guard let shared else { return own }
        let names = Set(own.map(\.deviceName))
        let sharedNames = shared.deviceName.split(separator: ", ", omittingEmptySubsequences: false).map(String.init)
        let isMergedView =
            own.contains { $0.deviceID != nil && $0.deviceID == shared.deviceID }
            || names.contains(shared.deviceName)
            || sharedNames.contains { names.contains($0) }
        return isMergedView ? own : own + [shared]
    }

    /// Groups by the name that viewers know an account by.
    private static func nameKey(of group: [MergeReading]) -> [String?] {
        [group[0].provider.providerID, group.lazy.compactMap(\.account?.key).first]
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

    private static func merged(_ readings: [MergeReading], now: Date, isNamedApart: Bool) -> MergedProvider {
        let newestFirst = readings.sorted { $1.rank < $0.rank }
        let newest = newestFirst[0]
        let source = newestFirst.first { $0.hasLiveWindow(at: now) } ?? newest
        func newestValue<Value>(_ field: KeyPath<ProviderUsageSnapshot, Value?>) -> Value? {
            newestFirst.lazy.compactMap { $0.provider[keyPath: field] }.first
        }

        var snapshot = source.provider
        snapshot.takeWindows(of: newestFirst.filter { $0.rank != source.rank && $0.rank.hasPlausibleTime }, now: now)
        snapshot.providerName = newest.provider.providerName
        snapshot.accountEmail = newestFirst.lazy.compactMap(\.account?.shown).first
        let withPlan = newestFirst.filter { $0.plan != nil }
        if isNamedApart,
            let plan = (withPlan.first { $0.plan?.multiple != nil } ?? withPlan.first)?.provider.loginMethod
        {
            snapshot.accountEmail = "\(snapshot.accountEmail ?? "unnamed") (\(plan.trimmed()))"
        }
        snapshot.loginMethod = newestValue(\.loginMethod)
        snapshot.statusMessage = newest.provider.statusMessage
        snapshot.isError = newest.provider.isError
        snapshot.credits = newestValue(\.credits)
        snapshot.budget = newestValue(\.budget)
        if localLogProviders.contains(snapshot.providerID)
            || readings.contains(where: { $0.provider.costSummary?.hourly != nil })
        {
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
                    deviceID: $0.device.snapshot.deviceID, deviceName: $0.device.snapshot.deviceName,
                    account: $0.account?.key, lastUpdated: $0.provider.lastUpdated,
                    syncTimestamp: $0.device.snapshot.syncTimestamp, suppliesWindows: $0.rank == source.rank,
                    costSummary: $0.provider.costSummary)
            })
    }
}

extension ProviderUsageSnapshot {
    /// Takes the windows of other readings of the account that are newer there, or that it has not, and have not been
    /// reset.
    fileprivate mutating func takeWindows(of others: [MergeReading], now: Date) {
        var windows = windows
        var places = Dictionary(zip(windows.map(\.limit), windows.indices)) { first, _ in first }
        for other in others where other.provider.isEstimate == isEstimate {
            for var window in other.provider.windows {
                guard let end = window.resetsAt, end > now else { continue }
                let observed = other.provider.observedAt(window)
                window.observedAt = observed < lastUpdated ? observed : nil
                if let place = places[window.limit] {
                    let held = windows[place]
                    if held.isReset(at: now) || observed > observedAt(held) { windows[place] = window }
                } else if windows.count < SnapshotLimits.windowsPerProvider {
                    places[window.limit] = windows.count
                    windows.append(window)
                }
            }
        }
        guard windows != self.windows else { return }
        func taken(_ window: SyncRateWindow?) -> SyncRateWindow? {
            window.map { places[$0.limit].map { windows[$0] } ?? $0 }
        }
        (primary, secondary, rateWindows) = (taken(primary), taken(secondary), windows)
    }
}

extension SyncRateWindow {
    /// Which limit of an account it is of, by every reading alike: its label, or its length if that says no more.
    fileprivate var limit: String {
        let name = label?.trimmed().lowercased() ?? ""
        let isPlain = name.isEmpty || ["session", "weekly"].contains { name == $0 || name.hasPrefix($0 + " (") }
        return isPlain ? nominalMinutes.map(String.init) ?? name : name
    }
}
