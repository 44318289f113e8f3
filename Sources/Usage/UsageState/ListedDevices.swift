package import Essentials
package import KVStoreWire
package import SnapshotModels

/// The devices of an account, as its daemon has listed them: what they are called, and which have been removed.
package struct ListedDevices: Sendable, Equatable {
    private let devices: [KnownDevice]
    private let listedAt: Date

    /// - Parameter listedAt: by the clock of this machine.
    package init(_ devices: [DaemonDevice], listedAt: Date) {
        self.devices = devices.map { KnownDevice($0) }
        self.listedAt = listedAt
    }

    /// Whether the device that pushed this has been removed: it is not in the list, and had pushed when the list was
    /// made.
    ///
    /// A snapshot without the daemon's id may be that of any device, and stays.
    package func hasRemoved(_ snapshot: SyncedUsageSnapshot) -> Bool {
        guard let id = snapshot.daemonDeviceID else { return false }
        return snapshot.syncTimestamp <= listedAt && !devices.contains { $0.id == id }
    }

    /// The snapshots of those in the list, and of those that have joined since it was made.
    func present(_ snapshots: [SyncedUsageSnapshot]) -> [SyncedUsageSnapshot] {
        let matches = devices.matches(of: snapshots.map { ($0.daemonDeviceID, $0.deviceName) })
        return zip(snapshots, matches).compactMap { snapshot, device in
            let hasJoinedSince = snapshot.daemonDeviceID != nil && !hasRemoved(snapshot)
            return device != nil || hasJoinedSince ? snapshot : nil
        }
    }

    /// The snapshots of devices that have not been removed, with the names that the daemon has for them.
    func named(_ snapshots: [SyncedUsageSnapshot]) -> [SyncedUsageSnapshot] {
        let present = snapshots.filter { !hasRemoved($0) }
        let matches = devices.matches(of: present.map { ($0.daemonDeviceID, $0.deviceName) })
        return zip(present, matches).map { snapshot, device in
            var snapshot = snapshot
            if let device { snapshot.deviceName = device.name }
            return snapshot
        }
    }
}

extension [KnownDevice] {
    /// Which of these each of the devices is that push.
    ///
    /// A snapshot names its device with the id that the daemon gave it. One that does not is that of the device with
    /// its name, up to the first dot, where exactly one device has it on both sides: both names come from the host's
    /// unless the user chose another.
    func matches(of pushing: [(daemonID: String?, name: String)]) -> [KnownDevice?] {
        let byID = Dictionary(map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let named = Set(pushing.compactMap(\.daemonID))
        let byLabel = Dictionary(grouping: filter { $0.mayWrite && !named.contains($0.id) }) { $0.name.hostLabel }
        let counts = Dictionary(grouping: pushing.filter { $0.daemonID == nil }) {
            $0.name.hostLabel
        }.mapValues(\.count)
        return pushing.map { device in
            if let id = device.daemonID { return byID[id] }
            let label = device.name.hostLabel
            guard let found = byLabel[label], found.count == 1, counts[label] == 1 else { return nil }
            return found[0]
        }
    }
}

extension String {
    /// The first label of a host's name, in the form in which names are compared.
    var hostLabel: Substring { lowercased().prefix { $0 != "." } }
}
