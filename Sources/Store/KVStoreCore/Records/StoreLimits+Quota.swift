extension StoreLimits {
    /// Why a local write is not allowed; nil when it is. One that shrinks or removes a value always is.
    func violation(writing content: StoreRecord.Content, forKey key: StoreKey, into table: Table) -> StoreError? {
        // A key that cannot exist is not there, so removing it does nothing.
        guard case .value(let data) = content else { return nil }
        let old = table.content(forKey: key)
        guard keyProfile.allows(key) else {
            let unit = keyProfile == .standard ? "UTF-16 units" : "UTF-8 bytes"
            return StoreError(
                .invalidKey, operation: "set", subject: "key '\(key)'",
                reason: key.text.isEmpty
                    ? "the key is empty"
                    : "the key has \(keyProfile.length(of: key)) \(unit), the limit is \(keyProfile.limit)",
                hint: key.text.isEmpty ? "use a non-empty key" : "use a shorter key")
        }
        let byteCount = content.quotaByteCount
        let oldByteCount = old?.quotaByteCount ?? 0
        let ceiling = Self.ceiling.valueByteCount
        if old != nil, byteCount <= oldByteCount, data.count <= ceiling { return nil }
        if byteCount > valueByteCount || data.count > ceiling {
            return StoreError(
                .quotaExceeded, operation: "set", subject: "key \(key)",
                reason: byteCount > valueByteCount
                    ? "the value has \(byteCount) bytes, the limit is \(valueByteCount)"
                    : "the value takes \(data.count) bytes encoded, the limit is \(ceiling)",
                hint: "store less, or split the value across several keys")
        }
        let total = table.byteCount - oldByteCount + byteCount
        if total > totalByteCount {
            return StoreError(
                .quotaExceeded, operation: "set", subject: "key \(key)",
                reason: "a value of \(byteCount) bytes would bring the total to \(total), "
                    + "the limit is \(totalByteCount) (\(table.byteCount) in use)", hint: "remove keys, or store less")
        }
        if old == nil, table.keyCount >= keyCount {
            return StoreError(
                .tooManyKeys, operation: "set", subject: "key \(key)",
                reason: "the store holds \(table.keyCount) keys, the limit is \(keyCount)", hint: "remove keys first")
        }
        return nil
    }
}
