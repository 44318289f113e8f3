/// Decides which of several records of one request counts.
///
/// Tools state a request several times: while a reply grows, in the transcript of a session that was resumed or forked, in that
/// of a subagent. Of all records with one id:
/// - without a record of the main chain, the one that outranks the others counts, whatever its variant;
/// - else those of side chains are repetitions, and of each variant of the main chain the one that outranks the others counts;
/// - a summary repeats any record of the main chain that is not a summary.
///
/// The result does not depend on the order of the records: a total order decides. [ryoppippi/ccusage, adapter/claude; with
/// the same result where that depends on the order of files]
enum TokenMerge {
    /// Keeps the records that count, sorted by id.
    ///
    /// - Parameter sessionOrder: by the number of a session something that is the same in every run.
    static func merge(_ entries: inout [TokenEntry], sessionOrder: [UInt64]) {
        entries.sort { left, right in
            if left.id != right.id { return left.id < right.id }
            if left.isSidechain != right.isSidechain { return right.isSidechain }
            if left.isSummary != right.isSummary { return right.isSummary }
            if !left.isSidechain, left.variant != right.variant {
                return left.variant < right.variant
            }
            if left.outranks(right) { return true }
            if right.outranks(left) { return false }
            return sessionOrder[Int(left.session)] < sessionOrder[Int(right.session)]
        }
        var count = 0
        var index = 0
        while index < entries.count {
            // The group of one id; what counts of it is at first...last.
            let first = count
            entries[first] = entries[index]
            var last = first
            var isShared = entries[first].isShared
            index += 1
            while index < entries.count, entries[index].id == entries[first].id {
                let entry = entries[index]
                let isCounted =
                    !entry.isSidechain && entry.isSummary == entries[first].isSummary
                    && entry.variant != entries[last].variant
                isShared = isShared || entry.isShared || entry.file != entries[last].file
                if isCounted {
                    last += 1
                    entries[last] = entry
                }
                index += 1
            }
            for winner in first...last { entries[winner].isShared = isShared }
            count = last + 1
        }
        entries.removeSubrange(count...)
    }
}
