extension Hub {
    /// A change that a store with narrower limits than ``StoreLimits/ceiling`` refuses.
    package struct Refusal: Sendable, Equatable {
        package let record: StoreRecord
        package let reason: SyncRejection.Reason
        /// What the limit is, and what the change would have needed.
        package let violation: StoreError
    }

    /// The changes that limits do not allow when the others are accepted. Superseded changes are not compared with
    /// them.
    package func refusals(of changes: [StoreRecord], limits: StoreLimits) -> [Refusal] {
        var table = Table()
        for entry in entries.values {
            table.put(Table.Entry(record: entry.record, status: .acknowledged))
        }
        var refusals: [Refusal] = []
        for record in changes {
            if let present = table[record.key]?.record, !record.supersedes(present) { continue }
            let violation = limits.violation(writing: record.content, forKey: record.key, into: table)
            guard let violation else {
                table.put(Table.Entry(record: record, status: .acknowledged))
                continue
            }
            let reason: SyncRejection.Reason =
                switch violation.code {
                case .invalidKey: .key(limit: limits.keyProfile.limit)
                case .tooManyKeys: .quota(limit: limits.keyCount)
                default:
                    .quota(
                        limit: record.content.quotaByteCount > limits.valueByteCount
                            ? limits.valueByteCount : limits.totalByteCount)
                }
            refusals.append(Refusal(record: record, reason: reason, violation: violation))
        }
        return refusals
    }
}
