extension StoreLimits {
    /// Why a local write may not be made; nil when it may. A write that shrinks the store always may.
    func violation(
        writing content: Record.Content, forKey key: String, into table: Table
    ) -> StoreError? {
        guard keyProfile.allows(key) else {
            let unit = keyProfile == .standard ? "UTF-16 units" : "UTF-8 bytes"
            return StoreError(
                .invalidKey, operation: "set", subject: key.isEmpty ? "an empty key" : "key \(key)",
                reason: key.isEmpty
                    ? "a key has at least one character"
                    : "\(keyProfile.length(of: key)) \(unit), at most \(keyProfile.limit)",
                hint: "use a shorter key")
        }
        guard case .value(let data) = content else { return nil }
        let old = table.content(forKey: key)
        let oldByteCount = old?.byteCount ?? 0
        if old != nil, data.count <= oldByteCount { return nil }
        if data.count > valueByteCount {
            return StoreError(
                .quotaExceeded, operation: "set", subject: "key \(key)",
                reason: "the value has \(data.count) bytes, at most \(valueByteCount) are allowed",
                hint: "store less, or split the value over several keys")
        }
        let total = table.byteCount - oldByteCount + data.count
        if total > totalByteCount {
            return StoreError(
                .quotaExceeded, operation: "set", subject: "key \(key)",
                reason: "a value of \(data.count) bytes would make \(total) bytes in all, "
                    + "at most \(totalByteCount) are allowed (\(table.byteCount) in use)",
                hint: "remove keys, or store less")
        }
        if old == nil, table.keyCount >= keyCount {
            return StoreError(
                .tooManyKeys, operation: "set", subject: "key \(key)",
                reason: "the store holds \(table.keyCount) keys, at most \(keyCount) are allowed",
                hint: "remove keys first")
        }
        return nil
    }
}
