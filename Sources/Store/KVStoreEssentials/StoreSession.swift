import KVStoreCore
import KVStoreLog
import LocalFiles
import Synchronization

/// One account's replica of one store in this process, with its driver and its directory watch.
final class StoreSession: Sendable {
    let configuration: StoreConfiguration
    let replica: LocalReplica
    let driver: (any SyncDriving)?
    private let runtime: StoreRuntime
    private let watch: (any DirectoryWatch)?
    private let accountWatch = Mutex<(any Sendable)?>(nil)

    init(configuration: StoreConfiguration, runtime: StoreRuntime, delivery: ChangeDelivery) throws(StoreError) {
        guard StoreConfiguration.isValidStoreName(configuration.storeName) else {
            throw StoreError(
                .invalidStoreName, operation: "open", subject: "store \(configuration.storeName)",
                reason: "invalid store name", hint: "use 1–128 letters, digits, '.', '_' or '-', not starting with '.'")
        }
        self.configuration = configuration
        self.runtime = runtime
        let storage: any LogStorage
        do throws(FileError) {
            storage = try runtime.openStorage(configuration.directory)
        } catch {
            throw StoreError(.storage(error), operation: "open")
        }
        let driver = runtime.makeDriver(configuration)
        self.driver = driver
        var options = DurableReplica.Options()
        options.limits = configuration.limits
        options.notificationKeyCount = configuration.notificationKeyCount
        let replica = try LocalReplica(
            storage: storage, options: options, runtime: runtime,
            execute: { ready in
                for change in ready.notifications { delivery.deliver(change) }
                driver?.enqueue(ready)
            },
            connectionChanged: { delivery.deliver($0) })
        self.replica = replica
        guard configuration.isWatched else {
            watch = nil
            return
        }
        watch = runtime.watch(configuration.directory) { [weak replica] in
            try? replica?.catchUp()  // a failure schedules the next attempt
        }
        // Other processes may have appended before the watch began.
        try replica.catchUp()
    }

    /// Whether the values belong to no account.
    var isLocal: Bool { driver == nil || configuration.isSignedOut }

    /// Follows the account, and connects to the daemon, if there is one. If the log cannot be read, that is tried again
    /// later, as long as the session is in use.
    ///
    /// - Parameter accountChanged: called with the configuration for an account that takes the place of this one.
    func connect(
        accountChanged:
            @escaping @Sendable (StoreConfiguration, StoreSession) -> StoreConfiguration.AccountChangeOutcome
    ) throws(StoreError) {
        let watch = configuration.watchAccount? { [weak self] configuration in
            self.map { accountChanged(configuration, $0) } ?? .refused
        }
        accountWatch.withLock { $0 = watch }
        guard let driver else { return }
        driver.start(replica)
        try attach()
    }

    private func attach() throws(StoreError) {
        do throws(StoreError) {
            try replica.attach(isLive: configuration.isLive)
        } catch {
            if error.code != .closed {
                runtime.after(Backoff.greatestMilliseconds) { [weak self] in try? self?.attach() }
            }
            throw error
        }
    }

    func close() {
        watch?.cancel()
        _ = accountWatch.withLock { watch in
            defer { watch = nil }
            return watch
        }
        replica.close()
        driver?.stop()
    }
}
