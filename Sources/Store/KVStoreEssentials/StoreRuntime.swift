import Dispatch
import Essentials
package import KVStoreCore
package import KVStoreLog
package import LocalFiles

/// The environment of a store: disk, clock, randomness, timers and the connection to its daemon.
///
/// Apps use `system`. `KVStoreTesting` supplies another one, so that the same code runs on virtual time and
/// simulated disks.
package struct StoreRuntime: Sendable {
    package typealias Body = @Sendable () -> Void
    package typealias OpeningError = FileError
    package typealias Posting = @Sendable (StoreAnnouncement, [UbiquitousKeyValueStore]) -> Void

    /// Opens a replica's directory, and creates it if it is missing.
    package var openStorage: @Sendable (String) throws(OpeningError) -> any LogStorage
    /// Both clocks of the device.
    package var now: @Sendable () -> Instant
    /// Randomness for new replica ids and for back-off.
    package var newSeed: @Sendable () -> UInt64
    /// Runs the body once, that many milliseconds later; never before this returns.
    package var after: @Sendable (Int64, @escaping Body) -> Void
    /// Calls the body when a process has written into the directory; never before this returns.
    package var watch: @Sendable (String, @escaping Body) -> any DirectoryWatch
    /// Creates what talks to the daemon; nil for a store without a transport.
    package var makeDriver: @Sendable (StoreConfiguration) -> (any SyncDriving)?
    /// Notifies observers on behalf of the objects of a store; returns when they have been called.
    package var post: Posting = { announcement, objects in
        // Only the default store stands for the user's account, however many objects it has.
        let posting = announcement == .identityChange ? Array(objects.filter(\.isDefault).prefix(1)) : objects
        for object in posting { (object as? any ChangePosting)?.post(announcement) }
    }
    /// Whether it belongs to a simulated device.
    package var isSimulated = false
    /// Called for each key after every write of this process, on the writer's thread and under no lock; without content
    /// if it failed.
    package var didWrite: @Sendable (StoreKey, StoreRecord.Content?) -> Void = { _, _ in }

    package init(
        openStorage: @escaping @Sendable (String) throws(OpeningError) -> any LogStorage,
        now: @escaping @Sendable () -> Instant, newSeed: @escaping @Sendable () -> UInt64,
        after: @escaping @Sendable (Int64, @escaping Body) -> Void,
        watch: @escaping @Sendable (String, @escaping Body) -> any DirectoryWatch,
        makeDriver: @escaping @Sendable (StoreConfiguration) -> (any SyncDriving)?
    ) {
        self.openStorage = openStorage
        self.now = now
        self.newSeed = newSeed
        self.after = after
        self.watch = watch
        self.makeDriver = makeDriver
    }

    /// Files, the machine's clocks and Dispatch.
    static var system: StoreRuntime {
        let queue = DispatchQueue(label: "ubiquity.replica")
        return StoreRuntime(
            openStorage: { directory throws(FileError) in try FileLogStorage(directory: directory) }, now: Instant.now,
            newSeed: { .random(in: 0...UInt64.max) },
            after: { milliseconds, body in
                queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds)), execute: body)
            },
            watch: { directory, changed in
                System.watch(directory: directory, queue: DispatchQueue(label: "ubiquity.watch"), changed: changed)
            },
            makeDriver: { configuration in
                configuration.transport.map {
                    SyncDriver(
                        transport: $0, storeName: configuration.storeName,
                        monotonicMilliseconds: System.monotonicMilliseconds)
                }
            })
    }
}

/// Executes the network part of what a replica requires, and delivers the outcomes as events.
package protocol SyncDriving: AnyObject, Sendable {
    /// Accepts what the replica requires, in its order. Called under the replica's lock: must only enqueue.
    func enqueue(_ ready: Ready)

    /// Starts executing for this replica.
    func start(_ replica: LocalReplica)

    /// Cancels what is under way; waiters fail.
    func stop()

    /// Requests a round trip in the background.
    func requestRound(_ replica: LocalReplica)

    /// Waits for a round trip, as `Replica.synchronize` does. Throws `cancelled` once the calling task is cancelled.
    func synchronize(_ replica: LocalReplica, onlySends: Bool) async throws(StoreError) -> SyncReport
}
