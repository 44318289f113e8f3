package import KVStoreCore
import KVStoreLog

/// Memory of all records, estimated, and the part of each account that has any.
struct MemoryUse {
    private(set) var byteCount = 0
    private var byAccount: [String: Int] = [:]

    mutating func add(_ growth: Int, account: String) {
        guard growth != 0 else { return }
        byteCount += growth
        let count = byAccount[account, default: 0] + growth
        byAccount[account] = count == 0 ? nil : count
    }

    func byteCount(ofAccount account: String) -> Int { byAccount[account, default: 0] }
}

/// The stores of an account together.
package struct AccountTotals: Sendable, Equatable {
    package var storeCount = 0
    package var keyCount = 0
    package var memoryByteCount = 0

    package init(storeCount: Int = 0, keyCount: Int = 0, memoryByteCount: Int = 0) {
        self.storeCount = storeCount
        self.keyCount = keyCount
        self.memoryByteCount = memoryByteCount
    }
}

extension Ledger {
    /// Bytes of the log's files, including space that is reserved in the newest.
    package var logByteCount: Int { log.fileByteCount }

    /// Memory of all records, estimated.
    package var memoryByteCount: Int { memory.byteCount }

    /// For each account that has stores. Reads no record.
    package var accountTotals: [String: AccountTotals] {
        storesByAccount.filter { !$0.value.isEmpty }.reduce(into: [:]) { totals, account in
            totals[account.key] = AccountTotals(
                storeCount: account.value.count,
                keyCount: account.value.reduce(0) { $0 + (stores[$1]?.hub.keyCount ?? 0) },
                memoryByteCount: memory.byteCount(ofAccount: account.key))
        }
    }

    /// What a record, or the tombstone of one, takes in memory: 330 bytes besides a short key and its value were
    /// measured.
    package static func memoryByteCount(of record: StoreRecord) -> Int {
        memoryByteCount(of: record.key, record.content)
    }

    package static func memoryByteCount(of key: StoreKey, _ content: StoreRecord.Content) -> Int {
        384 + 2 * key.text.utf8.count + content.byteCount
    }

    package static func memoryByteCount(of hub: Hub) -> Int {
        hub.entries.values.reduce(0) { $0 + memoryByteCount(of: $1.record) }
    }
}

extension LedgerInspection {
    /// For each account that has stores.
    package var accountTotals: [String: AccountTotals] {
        stores.reduce(into: [:]) { totals, store in
            totals[store.id.account, default: AccountTotals()].storeCount += 1
            totals[store.id.account]?.keyCount += store.hub.keyCount
            totals[store.id.account]?.memoryByteCount += Ledger.memoryByteCount(of: store.hub)
        }
    }
}
