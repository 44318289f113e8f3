package import KVStoreLedger
import KVStoreLog

/// An account with what it uses. As JSON: fields are added, never renamed or removed.
package struct AccountUsage: Sendable, Equatable, Codable {
    package var account: String
    /// Names, in the order in which the devices were added.
    package var devices: [String]
    package var storeCount: Int
    package var keyCount: Int
    /// Memory of its records.
    package var byteCount: Int
    /// Nil for no limit of its own.
    package var byteLimit: Int?
    package var storeLimit: Int
    /// Whether its stores are being removed.
    package var isBeingRemoved: Bool
}

extension DeviceTable {
    /// All accounts, also those that only have stores left, sorted by name.
    package func usage(_ totals: [String: AccountTotals]) -> [AccountUsage] {
        let present = presentAccounts
        let devices = Dictionary(grouping: devices, by: \.account)
        let names = Set(present.keys).union(totals.keys).union((accounts ?? []).map(\.name))
        return names.sorted().map { name in
            let total = totals[name] ?? AccountTotals()
            let entry = present[name]
            return AccountUsage(
                account: name, devices: devices[name, default: []].map(\.name), storeCount: total.storeCount,
                keyCount: total.keyCount, byteCount: total.memoryByteCount, byteLimit: entry?.byteLimit,
                storeLimit: entry?.storeLimit ?? LogEngine.Options().storesPerAccount,
                isBeingRemoved: account(name)?.removed != nil)
        }
    }
}

extension DataDirectory {
    /// All accounts with what they use. Reads the whole log, and changes nothing.
    package func accountUsage() throws(ServerError) -> [AccountUsage] {
        let totals = hasLog ? try inspect().found.accountTotals : [:]
        return (try deviceFile.read()?.table ?? DeviceTable(instance: "")).usage(totals)
    }

    /// Finishes the removals of accounts that have begun; returns false if a server uses the directory, which does it
    /// then.
    package func finishAccountRemovals() throws(ServerError) -> Bool {
        guard hasLog else {
            try finishAccountRemovals { _ in }
            return true
        }
        let ledger: Ledger
        do throws(ServerError) { ledger = try openLedger() } catch {
            if error.code == .inUse { return false }
            throw error
        }
        try finishAccountRemovals { account throws(ServerError) in
            try ServerError.wrapping { () throws(LogError) in
                for id in ledger.stores(ofAccount: account) { _ = try ledger.remove(id) }
                try ledger.sync()
            }
        }
        try ServerError.wrapping { () throws(LogError) in try ledger.close() }
        return true
    }

    private func finishAccountRemovals(_ removeStores: (String) throws(ServerError) -> Void) throws(ServerError) {
        while let account = try deviceFile.removedAccount {
            try deviceFile.removePairings(ofAccount: account.name)
            try removeStores(account.name)
            try deviceFile.finishRemoval(ofAccount: account.name)
        }
    }
}
