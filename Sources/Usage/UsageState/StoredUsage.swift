package import Essentials
package import SnapshotModels

/// The decoded values of a store, for those who ask about more than one time.
package struct StoredUsage: Sendable {
    private let snapshots: [SyncedUsageSnapshot]
    /// Why there are none although there is a value.
    private let unreadableReason: String?
    private let histories: [DeviceHistory]
    private let waits: [String: Data]
    private let budgets: [Budget]
    private let projects: ProjectRules
    private let year: UsageYear?

    /// - Parameters:
    ///   - values: the values under the keys of `UsageData.isKey`; others are ignored.
    ///   - decode: how a snapshot is decoded.
    package init(
        values: [String: Data], decode: (Data) throws(SnapshotCodecError) -> SyncedUsageSnapshot = SnapshotCodec.decode
    ) {
        let shared = values[SyncedUsageSnapshot.storeKey]
        let own = values.filter { $0.key.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .sorted { $0.key < $1.key }
            .compactMap { try? decode($0.value) }  // What cannot be read is said by `unreadable`.
        let budgets = Budget.all(in: values)
        self.budgets = budgets
        projects = ProjectRules(stored: values)
        snapshots = SnapshotMerge.devices(own: own, shared: shared.flatMap { try? decode($0) })
            .map { $0.bounded().withoutBudgets(except: budgets) }
        var reason: String?
        if snapshots.isEmpty, let shared {
            do throws(SnapshotCodecError) { _ = try decode(shared) } catch {
                reason = "\(error)"
            }
        }
        unreadableReason = reason
        histories = DeviceHistory.all(in: values)
        waits = values.filter { GateWaits.isKey($0.key) }
        year = values[UsageYear.storeKey].flatMap { UsageYear(stored: $0) }
    }

    /// - Parameter devices: of the account; nil if the daemon has not been asked, or there is none.
    package func data(link: UsageData.Link, at now: Date, devices: ListedDevices? = nil) -> UsageData {
        let present = devices?.named(snapshots) ?? snapshots
        var data: UsageData
        if present.isEmpty {
            let stored = unreadableReason.map { UsageData.Stored.unreadable(reason: $0) }
            data = UsageData(
                link: link, stored: stored ?? .nothing, history: UsageHistory(merging: histories, now: now))
        } else {
            let usage = SnapshotMerge.merge(present, now: now)
            var history = UsageHistory(merging: histories, accountsOf: usage.providers, now: now)
            history.add(usage.providers.map(\.snapshot), now: now)
            data = UsageData(link: link, stored: .usage(usage), history: history)
            let removed = snapshots.filter { devices?.hasRemoved($0) ?? false }
            let removedIDs = Set(removed.compactMap { $0.deviceID?.lowercased() })
            data.waits = GateWaits.all(in: waits, now: now).filter { !removedIDs.contains($0.key) }
            data.budgets = budgets
        }
        data.projects = projects
        data.year = year
        return data
    }
}

extension UsageData {
    /// The parameters are those of `StoredUsage`.
    package init(link: Link, values: [String: Data], now: Date, devices: ListedDevices? = nil) {
        self = StoredUsage(values: values).data(link: link, at: now, devices: devices)
    }

    /// The devices that push.
    package func devices(at now: Date) -> [DeviceState] {
        let states = (usage?.devices ?? []).map { DeviceState($0, isOnline: link == .online, now: now) }
        guard case .known = known else { return states }
        let matches = known.devices.matches(of: states.map { ($0.daemonID, $0.name) })
        return zip(states, matches).map { state, match in
            var state = state
            state.availability = DevicePresence(
                server: known.presence(of: match), heartbeatAge: now.timeIntervalSince(state.lastPush))
            return state
        }
    }

    /// Whether the value under a key is read.
    package static func isKey(_ key: String) -> Bool {
        key.hasPrefix(SyncedUsageSnapshot.storeKey) || key.hasPrefix(UsageHistory.storeKeyPrefix)
            || GateWaits.isKey(key) || Budget.isKey(key) || ProjectRules.isKey(key)
            || key == UsageYear.storeKey
    }
}
