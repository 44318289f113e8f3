public import Essentials
public import SnapshotModels

/// A key-value store, as far as a pusher needs one. Called from one task at a time.
///
/// ```swift
/// struct StoreSink: SnapshotSink {
///     let store: UbiquitousKeyValueStore
///
///     func put(_ values: [String: Data], of snapshot: SyncedUsageSnapshot) throws {
///         try store.write(values.mapValues { .data($0) })
///     }
///
///     func otherDeviceSnapshots() throws -> [Data] {
///         let keys = store.keys.filter { $0.hasPrefix(SyncedUsageSnapshot.storeKey(deviceID: "")) }
///         return keys.compactMap { store.data(forKey: $0) }
///     }
/// }
/// ```
public protocol SnapshotSink: Sendable {
    /// Stores what a push of this snapshot writes, by key: all of it or nothing, durably before it returns. It may be
    /// synced later, together.
    func put(_ values: [String: Data], of snapshot: SyncedUsageSnapshot) throws
    /// The values under the keys of single devices, this device's included or not.
    func otherDeviceSnapshots() throws -> [Data]
}

/// Writes a device's snapshot under the device's own key, and merged with those of the other
/// devices under the key that every reader knows.
///
/// Each device owns its key, so two workstations never overwrite each other there. The merged key
/// has many writers; the last one wins, and each of them writes the same merge.
///
/// ```swift
/// let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
/// print("\(receipt.mergedByteCount) bytes, devices: \(receipt.deviceCount)")
/// ```
public struct SnapshotPublisher: Sendable {
    /// A size from which details are left out.
    static let deviceByteCount = 96 * 1_024

    private let sink: any SnapshotSink

    public init(sink: any SnapshotSink) {
        self.sink = sink
    }

    /// The sizes of what a push wrote.
    public struct Receipt: Sendable, Equatable {
        public var deviceByteCount: Int
        public var mergedByteCount: Int
        /// Devices in the merge, this one included.
        public var deviceCount: Int
    }

    /// - Throws: The sink's errors and `SnapshotCodecError`; then nothing has been written.
    @discardableResult
    public func publish(_ snapshot: SyncedUsageSnapshot, at now: Date) throws -> Receipt {
        let own = try SnapshotTrimming.encode(snapshot, byteCount: Self.deviceByteCount)
        let others = try sink.otherDeviceSnapshots().compactMap { SnapshotCodec.read($0) }.filter {
            $0.deviceID?.lowercased() != snapshot.deviceID?.lowercased() && SharedView.includes($0, now: now)
        }
        let bytes = try SharedView.encode([snapshot] + others, now: now) ?? own
        var values = [SyncedUsageSnapshot.storeKey: bytes]
        if let id = snapshot.deviceID { values[SyncedUsageSnapshot.storeKey(deviceID: id)] = own }
        try sink.put(values, of: snapshot)
        return Receipt(deviceByteCount: own.count, mergedByteCount: bytes.count, deviceCount: others.count + 1)
    }
}
