import Essentials
import Commands
import KVStoreWire
import KVStoreEssentials

/// The effect of an import, decided before the first write.
struct ImportPlan: Equatable {
    /// The entries to write, in the document's order.
    var writes: [ExportDocument.Entry] = []
    var newKeyCount = 0
    var changedKeyCount = 0
    var unchangedKeyCount = 0

    /// - Parameter current: the values of the store.
    /// - Throws: the first reason why the document cannot be imported as a whole.
    init(
        _ document: ExportDocument, into current: [StoreKey: PropertyListValue], limits: StoreLimits
    ) throws(CommandFailure) {
        var seen: Set<StoreKey> = []
        var sizes = current.mapValues(\.byteCount)
        for entry in document.values {
            let key = StoreKey(entry.key)
            guard seen.insert(key).inserted else { throw CommandFailure(.dataError, "key \(entry.key) appears twice") }
            let length = limits.keyProfile.length(of: key)
            guard (1...limits.keyProfile.limit).contains(length) else {
                throw CommandFailure(
                    .dataError,
                    "key \"\(entry.key)\" has a length of \(length); 1 to \(limits.keyProfile.limit) are allowed")
            }
            let encoded = entry.value.encoded()
            guard (try? PropertyListValue(encoded: encoded)) != nil else {  // The error says the only reason.
                throw CommandFailure(.dataError, "key \(entry.key): the value is nested too deeply")
            }
            let byteCount = StoreRecord.Content.value(encoded).quotaByteCount
            guard byteCount <= limits.valueByteCount else {
                throw CommandFailure(
                    .dataError,
                    "key \(entry.key): the value has \(byteCount) bytes; at most \(limits.valueByteCount) are allowed")
            }
            sizes[key] = byteCount
            let old = current[key]
            if old?.encoded() == encoded {
                unchangedKeyCount += 1
                continue
            }
            if old == nil { newKeyCount += 1 } else { changedKeyCount += 1 }
            writes.append(entry)
        }
        try check(sizes, limits)
    }

    private func check(_ sizes: [StoreKey: Int], _ limits: StoreLimits) throws(CommandFailure) {
        guard !writes.isEmpty else { return }
        guard sizes.count <= limits.keyCount else {
            throw CommandFailure(.dataError, "the store would have \(sizes.count) keys; at most \(limits.keyCount)")
        }
        let total = sizes.values.reduce(0, +)
        guard total <= limits.totalByteCount else {
            throw CommandFailure(.dataError, "the store would hold \(total) bytes; at most \(limits.totalByteCount)")
        }
    }
}
