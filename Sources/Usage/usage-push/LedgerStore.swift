import Essentials
import KVStoreEssentials
import KVStoreHTTP
import UsagePusher

#if Network || PostgreSQL
    import KVStoreSealed
#endif

extension StoreEnvironment {
    /// A command that a person waits for does not wait for long.
    static let briefTimeouts = HTTPTimeouts(connect: .seconds(3), request: .seconds(10))

    /// Opens the store of past usage.
    func openLedger(_ credentials: Credentials?) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: configuration(
                of: credentials, storeNamed: LedgerKey.storeName, isLive: false, timeouts: Self.briefTimeouts))
    }

    /// Stores the names of a machine's projects so that only devices with the account's content key can read them.
    ///
    /// - Parameters:
    ///   - names: by the keys of `LedgerProjects`.
    ///   - ledger: the store of past usage.
    /// - Returns: whether the store has changed; without the network there is no account, and nobody to share with.
    /// - Throws: `noContentKey` where this device has none.
    func seal(
        _ names: [String: String], of device: String, in ledger: UbiquitousKeyValueStore, _ credentials: Credentials?
    ) throws -> Bool {
        #if Network || PostgreSQL
            let keys = try UbiquitousKeyValueStore(
                configuration: configuration(of: credentials, storeNamed: SealedAccount.storeName, isLive: false))
            defer { keys.close() }
            let sealed = try SealedStore(ledger, of: SealedAccount(keys))
            let key = LedgerProjects.sealedPrefix + device
            let value = PropertyListValue.dictionary(names.mapValues { .string($0) })
            guard try sealed.propertyList(forKey: key) != value else { return false }
            try sealed.write(value, forKey: key)
            return true
        #else
            return false
        #endif
    }
}
