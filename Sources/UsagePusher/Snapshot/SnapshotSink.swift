public import Foundation

/// Where snapshots are pushed to: a key-value store, as narrow as a pusher needs it.
///
/// Called from one task at a time.
public protocol SnapshotSink: Sendable {
    /// Stores the bytes, on disk before it returns; they travel on afterwards.
    func put(_ data: Data, forKey key: String) throws
    /// What is stored under the keys of single devices, this one's included or not.
    func otherDeviceSnapshots() throws -> [Data]
}
