import Essentials
import KVStoreEssentials
import KVStoreHTTP
import UsagePusher

#if Network || PostgreSQL
    import KVStoreSealed
#endif

extension LedgerProjects {
    /// The names of projects by their keys: those that this machine knows, and those that others have sealed for it.
    static func knownNames() -> [String: String] {
        let sealed = (try? sealedNames()) ?? [:]  // Without the content key there are none.
        return sealed.merging(LedgerProjectsFile.own.read()) { $1 }
    }

    private static func sealedNames() throws -> [String: String] {
        #if Network || PostgreSQL
            let ledger = try UsageReader.open(storeNamed: LedgerKey.storeName, isLive: false)
            defer { ledger.store.close() }
            guard ledger.store.keys.contains(where: { !LedgerKey.isKey($0) }) else { return [:] }
            let keys = try UsageReader.open(storeNamed: SealedAccount.storeName, isLive: false)
            defer { keys.store.close() }
            let contents = try SealedStore(ledger.store, of: SealedAccount(keys.store)).contents()
            var names: [String: String] = [:]
            for (key, entry) in contents.entries.sorted(by: { $0.key < $1.key }) where key.hasPrefix(sealedPrefix) {
                guard case .dictionary(let published) = entry.value else { continue }
                for case (let hash, .string(let name)) in published { names[hash] = shown(name) }
            }
            return names
        #else
            return [:]
        #endif
    }
}
