import Foundation

/// Everything that belongs to one account's replica of one store in this process.
final class StoreSession: Sendable {
    let configuration: StoreConfiguration
    let replica: LocalReplica
    let driver: (any SyncDriving)?
    private let runtime: StoreRuntime
    private let watch: any DirectoryWatch

    init(
        configuration: StoreConfiguration, runtime: StoreRuntime, announcements: Announcements
    ) throws(StoreError) {
        guard StoreConfiguration.isValidStoreName(configuration.storeName) else {
            throw StoreError(
                .invalidStoreName, operation: "open", subject: "store \(configuration.storeName)",
                reason: "not a store name",
                hint: "use 1–128 letters, digits, '.', '_' or '-', not starting with '.'")
        }
        self.configuration = configuration
        self.runtime = runtime
        let storage: any LogStorage
        do throws(StorageFailure) {
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
            outlet: { effect in
                if case .notify(let change) = effect {
                    announcements.announce(change)
                } else {
                    driver?.enqueue(effect)
                }
            },
            connectionChanged: { announcements.announce($0) })
        self.replica = replica
        watch = runtime.watch(configuration.directory) { [weak replica] in
            try? replica?.catchUp()
        }
        // What others appended after the replica was read and before the watch began.
        try replica.catchUp()
    }

    /// Starts to talk to the daemon, where there is one. Where the log cannot be read, that is tried again after a
    /// while, as long as the session is in use.
    func connect() throws(StoreError) {
        guard let driver else { return }
        driver.start(replica)
        try attach()
    }

    private func attach() throws(StoreError) {
        do throws(StoreError) {
            try replica.handle(.attached(isLive: configuration.isLive))
        } catch {
            if error.code != .closed {
                runtime.after(Backoff.greatestMilliseconds) { [weak self] in try? self?.attach() }
            }
            throw error
        }
    }

    func close() {
        watch.cancel()
        replica.close()
        driver?.stop()
    }
}
