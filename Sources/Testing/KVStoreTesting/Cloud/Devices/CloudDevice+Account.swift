import KVStore

extension CloudDevice {
    /// How far the app's store has come with its account.
    public enum AccountState: Sendable, Equatable, CaseIterable {
        /// It has no account: its values stay on the device.
        case signedOut
        /// It has an account whose values it has not completely downloaded yet. What the app sets until then gives way
        /// to what the account has.
        case joining
        /// The first download is complete.
        case joined
    }

    /// How far the app's store has come with its account.
    ///
    /// ```swift
    /// try phone.changeAccount(to: "family")
    /// #expect(phone.accountState == .joining)
    /// try await cloud.run { phone.accountState == .joined }
    /// #expect(phone.store.string(forKey: "theme") == "dark")
    /// ```
    public var accountState: AccountState {
        let store = store
        if store.configuration.transport == nil { return .signedOut }
        return store.status.initialSyncCompleted ? .joined : .joining
    }
}
