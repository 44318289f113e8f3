package import Essentials
package import SnapshotModels

/// A device of which a store has usage, although it is none of the account any more, and how to delete that.
package struct ForgottenDevice: Sendable, Equatable {
    /// Its own, which ends the names of its keys.
    package let id: String
    /// The id that the daemon gave it.
    package let daemonID: String?
    /// As it called itself; nil if only its history is left.
    package let name: String?

    /// By name, then id.
    ///
    /// - Parameters:
    ///   - values: of the store, under keys for which `isKey` is true.
    ///   - listed: the devices of the account; nil where there is no account.
    package static func all(in values: [String: Data], listed: ListedDevices?) -> [ForgottenDevice] {
        let snapshots = snapshots(in: values)
        let present = listed?.present(snapshots.map(\.value)) ?? []
        let ids = Set(values.keys.compactMap(id(ofKey:)))
        return ids.compactMap { id in
            let snapshot = snapshots.first { $0.id == id }?.value
            if let snapshot, present.contains(snapshot) { return nil }
            return ForgottenDevice(id: id, daemonID: snapshot?.daemonDeviceID, name: snapshot?.deviceName)
        }.sorted { ($0.name ?? "", $0.id) < ($1.name ?? "", $1.id) }
    }

    /// "host (0b1e…)". Unescaped.
    package var title: String { name.map { "\($0) (\(id))" } ?? id }

    /// Whether this is what a user calls it.
    package func isCalled(_ text: String) -> Bool {
        [id, daemonID, name].contains { $0?.lowercased() == text.lowercased() }
    }

    /// What to write so that nothing of the device is left: nil deletes a key. The view that all readers know is
    /// without it then.
    package func changes(in values: [String: Data], now: Date) throws(SnapshotCodecError) -> [String: Data?] {
        var changes: [String: Data?] = [:]
        for key in values.keys where Self.id(ofKey: key) == id { changes[key] = .some(nil) }
        let sharedKey = SyncedUsageSnapshot.storeKey
        let own = Self.snapshots(in: values)
        if let shared = SnapshotCodec.read(values[sharedKey]),
            SnapshotMerge.devices(own: own.map(\.value), shared: shared).count == own.count
        {
            changes[sharedKey] = .some(try SharedView.encode(own.filter { $0.id != id }.map(\.value), now: now))
        }
        return changes
    }

    /// Whether a device writes such keys.
    package static func isKey(_ key: String) -> Bool { key == SyncedUsageSnapshot.storeKey || id(ofKey: key) != nil }

    private static let prefixes = [
        SyncedUsageSnapshot.storeKey + ".", UsageHistory.storeKeyPrefix, AlertNotice.keyPrefix,
        GateWaits.storeKey(deviceID: ""),
    ]

    /// The device of a key, in lower case; nil for keys of no device, and for those of the daemon, which warns too.
    private static func id(ofKey key: String) -> String? {
        guard let prefix = prefixes.first(where: key.hasPrefix) else { return nil }
        let id = key.dropFirst(prefix.count).lowercased()
        return id.isEmpty || id.hasPrefix("-") ? nil : id
    }

    private static func snapshots(in values: [String: Data]) -> [(id: String, value: SyncedUsageSnapshot)] {
        values.sorted { $0.key < $1.key }.compactMap { key, data in
            guard key.hasPrefix(prefixes[0]), let id = id(ofKey: key),
                let snapshot = SnapshotCodec.read(data)
            else { return nil }
            return (id, snapshot)
        }
    }
}
