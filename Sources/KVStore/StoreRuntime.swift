import Dispatch
import Foundation

/// What a store stands on: disk, clock, chance, timers and the way to its daemon.
///
/// `system` is what every app uses. `KVStoreTesting` gives a store another one, so that the same code runs
/// on virtual time and simulated disks.
package struct StoreRuntime: Sendable {
    package typealias Body = @Sendable () -> Void

    /// Opens a replica's folder, which is made where it is missing.
    package var openStorage: @Sendable (String) throws(StorageFailure) -> any LogStorage
    /// Both clocks of the device.
    package var now: @Sendable () -> Moment
    /// Chance for a new replica's id and for back-off.
    package var newSeed: @Sendable () -> UInt64
    /// Runs the body once, that many milliseconds later. Never calls it before it returns.
    package var after: @Sendable (Int64, @escaping Body) -> Void
    /// Calls the body when a process has written into the folder; never before it returns.
    package var watch: @Sendable (String, @escaping Body) -> any DirectoryWatch
    /// What talks to the daemon; nil for a store without a transport.
    package var makeDriver: @Sendable (StoreConfiguration) -> (any SyncDriving)?

    package init(
        openStorage: @escaping @Sendable (String) throws(StorageFailure) -> any LogStorage,
        now: @escaping @Sendable () -> Moment, newSeed: @escaping @Sendable () -> UInt64,
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
            openStorage: { directory throws(StorageFailure) in
                try FileLogStorage(directory: directory)
            },
            now: Moment.now,
            newSeed: { .random(in: 0...UInt64.max) },
            after: { milliseconds, body in
                queue.asyncAfter(
                    deadline: .now() + .milliseconds(Int(milliseconds)), execute: body)
            },
            watch: { directory, changed in
                System.watch(
                    directory: directory, queue: DispatchQueue(label: "ubiquity.watch"),
                    changed: changed)
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

/// Carries out a replica's network effects and feeds the outcomes back as events.
package protocol SyncDriving: AnyObject, Sendable {
    /// Takes an effect, in the replica's order. Called under the replica's lock: must only enqueue.
    func enqueue(_ effect: Effect)

    /// From now on effects are carried out for this replica.
    func start(_ replica: LocalReplica)

    /// Ends what is under way; those who wait are told that it failed.
    func stop()

    /// Asks for a round trip in the background, which nobody waits for.
    func requestRound(_ replica: LocalReplica)

    /// Waits for a whole round trip that begins now.
    func synchronize(_ replica: LocalReplica) async throws(StoreError) -> SyncReport
}
