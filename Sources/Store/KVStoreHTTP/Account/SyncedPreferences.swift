import Essentials
package import KVStoreEssentials

/// What the user has chosen for all machines, in the account's store for that, or in this machine's as long as no
/// account has been joined. A value that a newer version has written stays as it is until it is set here.
package struct SyncedPreferences: Sendable {
    package static let storeName = "prefs"
    package let environment: StoreEnvironment

    private static let timeout = Duration.seconds(10)

    /// How far a change has come.
    package enum Outcome: Sendable {
        /// No account has been joined.
        case local
        case synced
        /// Other machines get it later; the text says why.
        case pending(String)
    }

    package init(environment: StoreEnvironment = StoreEnvironment()) {
        self.environment = environment
    }

    /// The texts whose keys begin so, as this machine has them. Creates nothing and waits for no network.
    package func texts(withPrefix prefix: String) throws(StoreError) -> [String: String] {
        guard let store = try UbiquitousKeyValueStore.openReplica(storeNamed: Self.storeName, environment: environment)
        else { return [:] }
        defer { store.close() }
        var texts: [String: String] = [:]
        for key in store.keys where key.hasPrefix(prefix) { texts[key] = store.string(forKey: key) }
        return texts
    }

    /// Sets or removes a text. It is durable on this machine when this returns.
    package func set(_ text: String?, forKey key: String) async throws(StoreError) -> Outcome {
        let store = try open()
        defer { store.close() }
        try? await store.completeInitialSync(within: Self.timeout)  // the outcome of sending says it
        try store.write(text.map(PropertyListValue.string), forKey: key)
        try store.flush()
        guard environment.isJoined else { return .local }
        do throws(StoreError) {
            let report = try await store.sendNow(within: Self.timeout)
            if report.pendingKeyCount == 0 { return .synced }
            return .pending(report.refusal ?? "the daemon has not accepted it")
        } catch {
            return .pending(error.reason)
        }
    }

    /// Sends and receives what has changed.
    package func synchronize() async throws(StoreError) {
        let store = try open()
        defer { store.close() }
        try await store.synchronizeNow(within: Self.timeout)
    }

    private func open() throws(StoreError) -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore.open(storeNamed: Self.storeName, isLive: false, environment: environment)
    }
}
