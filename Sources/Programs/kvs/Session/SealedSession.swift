import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import KVStoreSealed
import LocalFiles

/// The account's content keys, open for the duration of one command, and a store's sealed values.
struct SealedSession {
    let account: SealedAccount
    private let keys: OpenedStore

    enum Purpose {
        case reading(isFresh: Bool)
        case following
        /// Receives the newest keys first, so that this device does not create or replace one that it does not know.
        case changingKeys
    }

    init(_ options: StoreOptions, for purpose: Purpose) async throws {
        var options = options
        options.storeName = SealedAccount.storeName
        switch purpose {
        case .reading(let isFresh): keys = try await options.openToRead(isFresh: isFresh)
        case .following: keys = try options.open(isLive: true)
        case .changingKeys:
            keys = try options.open()
            if keys.isOnline { try await keys.refresh(isRequired: true) }
        }
        account = SealedAccount(keys.store)
    }

    /// Opens the sealed values of a store.
    func values(of opened: OpenedStore) throws(StoreError) -> SealedStore {
        guard opened.store.configuration.storeName != SealedAccount.storeName else {
            throw StoreError(
                .invalidStoreName, operation: "open", subject: "store \(SealedAccount.storeName)",
                reason: "it contains the keys of sealed values, and none of these")
        }
        return try SealedStore(opened.store, of: account)
    }

    /// Flushes and syncs what has been changed about keys.
    func finishWrite() async throws { try await keys.finishWrite(isSyncRequired: false) }

    func close() { keys.store.close() }

    /// Seals again, with the present key, what the stores of this machine have.
    ///
    /// - Returns: how many values.
    func reseal(_ options: StoreOptions) async throws -> Int {
        let environment = StoreEnvironment()
        let directory = environment.accountDirectory(try environment.credentials())
        let names = try LocalDirectory(directory).entries(limit: 1_024).entries.map(\.name)
        var count = 0
        for name in names.sorted()
        where name != SealedAccount.storeName && StoreConfiguration.isValidStoreName(name) {
            var options = options
            options.storeName = name
            let opened = try options.open()
            defer { opened.store.close() }
            await opened.prepareWrite()
            let resealed = try SealedStore(opened.store, of: account).reseal()
            if resealed > 0 { try await opened.finishWrite(isSyncRequired: false) }
            count += resealed
        }
        return count
    }
}
