/// Decides which records are of one request, and what counts of them.
///
/// Tools state a request several times: while a reply grows, in the transcript of a session that was resumed or forked,
/// in that of a subagent, in a copy of a file. An id that a tool made itself is the request's identity. One that came
/// from outside is only evidence, since gateways and relays reuse ids or have one for all. Of records with one id:
/// - **in one file and session** those with one variant are one request that grew, if the id is the tool's own; with a
///   foreign id they also need equal prompt counts (`TokenEntry.hasPrompt(of:)`). A count of the prompt that was not
///   known yet, or that the provider's own searches made larger, is no other prompt.
/// - **elsewhere** those that would be one request in one file are one if the id is the tool's own. With a foreign id
///   they are one if they are of one thread (a file in the archive), have the same time (copies keep it), or if the
///   thread of one declares that it continues the other's. One that its own line declares a copy may be of any thread.
/// - where the id of the request is stated too, both are those of one answer if they are stated within two minutes, in
///   one thread, at one time or with prompts of one size.
/// - counts that a file says were an estimate count neither there nor in copies: those with equal prompt counts and not
///   more output, of the file's thread, of one that continues it, or of the same time.
/// - a side chain repeats the main chain whatever its variant, and a summary repeats any record that is not one. One of
///   an interval counts with what other records of its model, since the interval before, do not state.
/// - what the origin that its file declares has too, as a record or in its sums, counts only while that one has no
///   file.
/// - what is probably a copy counts only if the thread that it would be of is there and does not have it; with the
///   tool's own id, wherever that has gone.
///
/// Among the records of one request the largest one counts; at the time and in the session of the origin, and with its
/// model, where a thread, a mark of a copy or, with a foreign id, a time tells which one that is, in this order.
///
/// What is kept is one record of each request for each file and session, so that files may come, grow and go in any
/// order: what counts is a function of the set.
struct TokenMerge {
    let lineage: TokenLineage

    /// Keeps one record of each request for each file and session, sorted by id.
    static func reduce(_ entries: inout [TokenEntry]) {
        guard entries.count > 1 else { return }
        entries.sort { left, right in
            if left.id != right.id { return left.id < right.id }
            return left.order(in: right) ?? left.outranks(right)
        }
        var last = 0
        for index in 1..<entries.count {
            if entries[last].isGrowth(of: entries[index]) {
                entries[last].absorb(entries[index])
            } else {
                last += 1
                entries[last] = entries[index]
            }
        }
        entries.removeSubrange((last + 1)...)
    }

    /// Passes on what counts of entries that are sorted by id.
    func count(_ entries: [TokenEntry], _ body: (TokenEntry) -> Void) {
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].id == entries[start].id { end += 1 }
            if end == start + 1 {
                if isCounted(entries[start]) { body(entries[start]) }
            } else {
                requests(among: entries[start..<end]).forEach(body)
            }
            start = end
        }
    }

    /// The requests among records with one id.
    private func requests(among records: ArraySlice<TokenEntry>) -> [TokenEntry] {
        var records = Array(records)
        removeEstimates(&records)
        records.removeAll(where: isInOrigin)
        guard !records.isEmpty else { return [] }
        subtractDetails(&records)
        removePlaceholders(&records)
        let main = Groups(records.filter { !$0.isSidechain }, lineage, ignoringVariants: false)
        let side = records.filter { record in
            record.isSidechain && !main.contains(recordRelatedTo: record)
        }
        return (main.groups + Groups(side, lineage, ignoringVariants: true).groups).compactMap(request)
    }

    /// Takes from summaries what other records state one by one.
    private func subtractDetails(_ records: inout [TokenEntry]) {
        let details = records.filter { !$0.isSummary && !$0.isSidechain }
        guard !details.isEmpty else { return }
        let summaries = records.filter(\.isSummary)
        records.removeAll(where: \.isSummary)
        let models = Set(details.map(\.model))
        // By other names of models nothing can be told.
        guard summaries.contains(where: { models.contains($0.model) }) else { return }
        var start = Int64.min
        for time in Set(summaries.lazy.filter(\.isOfInterval).map(\.time)).sorted() {
            for summary in summaries where summary.isOfInterval && summary.time == time {
                let stated = details.filter {
                    $0.model == summary.model && $0.time > start && $0.time <= time
                }
                records += summary.subtracting(stated).map { [$0] } ?? []
            }
            start = time
        }
    }

    /// Removes what a file says was an estimate, and what says so.
    private func removeEstimates(_ records: inout [TokenEntry]) {
        guard records.contains(where: \.isEstimate) else { return }
        let estimates = Dictionary(grouping: records.filter(\.isEstimate), by: \.requestCounts)
        records.removeAll { record in
            guard !record.isEstimate, let estimates = estimates[record.requestCounts] else { return record.isEstimate }
            let threads = [lineage.thread(of: record)] + lineage.ancestors(of: record)
            return estimates.contains { estimate in
                record.counts.output <= estimate.counts.output
                    && (record.time == estimate.time || threads.contains(lineage.thread(of: estimate)))
            }
        }
    }

    /// Removes records of an answer in progress whose prompt counts were not final.
    private func removePlaceholders(_ records: inout [TokenEntry]) {
        guard records[0].hasForeignID, records.contains(where: { $0.prompt == 0 || $0.webSearches > 0 }) else { return }
        struct Place: Hashable {
            var variant: UInt32
            var thread: UInt64
        }
        func place(_ record: TokenEntry) -> Place {
            Place(variant: record.variant, thread: lineage.thread(of: record))
        }
        let final = Dictionary(
            records.lazy.filter { $0.prompt > 0 }.map { (place($0), $0) },
            uniquingKeysWith: { $0.outranks($1) ? $0 : $1 })
        records.removeAll { record in
            guard let final = final[place(record)] else { return false }
            let isEmpty = record.prompt == 0
            let isBeforeSearch =
                record.isOfAnswer(of: final) && final.webSearches > record.webSearches
                && record.isWithin(final)
            return isEmpty || isBeforeSearch
        }
    }

    /// What counts of the records of one request, if it does.
    private func request(_ records: [TokenEntry]) -> TokenEntry? {
        guard var counted = records.first else { return nil }
        if records.count == 1 { return isCounted(counted) ? counted : nil }
        for record in records where record.outranks(counted) { counted = record }
        let head = original(among: records) ?? counted
        guard isCounted(head) else { return nil }
        counted.time = head.time
        counted.session = head.session
        counted.file = head.file
        counted.model =
            head.model != TokenEntry.noModel
            ? head.model
            : records.lazy.map(\.model).filter { $0 != TokenEntry.noModel }.min() ?? TokenEntry.noModel
        return counted
    }

    private func isCounted(_ entry: TokenEntry) -> Bool {
        !entry.isCountedElsewhere && !isInOrigin(entry)
            && (!entry.isProbableCopy || !entry.hasForeignID || lineage.hasOrigin(entry))
    }

    private func isInOrigin(_ entry: TokenEntry) -> Bool {
        entry.isInOrigin && lineage.hasOrigin(entry)
    }

    /// The one that the others are copies of, as far as anything tells.
    private func original(among records: [TokenEntry]) -> TokenEntry? {
        guard records.contains(where: lineage.isContinuation) else { return records.min(by: precedes) }
        let threads = Set(records.map(lineage.thread))
        let beginnings = records.filter { lineage.ancestors(of: $0).allSatisfy { !threads.contains($0) } }
        // In a circle there is none.
        return (beginnings.isEmpty ? records : beginnings).min(by: precedes)
    }

    /// Whether of two records of one request, of which none continues the other, the left one is the original.
    private func precedes(_ left: TokenEntry, _ right: TokenEntry) -> Bool {
        if left.isProbableCopy != right.isProbableCopy { return !left.isProbableCopy }
        if left.isInOrigin != right.isInOrigin { return !left.isInOrigin }
        if left.hasForeignID, left.time != right.time { return left.time < right.time }
        if left.outranks(right) { return true }
        if right.outranks(left) { return false }
        let order = (lineage.order(of: left), lineage.order(of: right))
        return order.0 != order.1 ? order.0 < order.1 : left.file < right.file
    }
}

/// Records with one id, grouped by request.
private struct Groups {
    private let records: [TokenEntry]
    private let lineage: TokenLineage
    private let ignoresVariants: Bool
    /// The index of another record of the same request, or its own.
    private var parents: [Int]
    /// Indices of the records, by class and thread.
    private var byThread: [Int] = []

    init(_ records: [TokenEntry], _ lineage: TokenLineage, ignoringVariants: Bool) {
        self.records = records
        self.lineage = lineage
        ignoresVariants = ignoringVariants
        parents = Array(records.indices)
        guard records.count > 1 else { return }
        let isOwn = !records[0].hasForeignID
        byThread = records.indices.sorted {
            order($0, $1) ?? (lineage.thread(of: records[$0]) < lineage.thread(of: records[$1]))
        }
        unite(byThread) {
            isOwn || lineage.thread(of: records[$0]) == lineage.thread(of: records[$1])
        }
        guard !isOwn else { return }
        let byTime = records.indices.filter { lineage.isKnownByTime(records[$0]) }.sorted {
            order($0, $1) ?? (records[$0].time < records[$1].time)
        }
        unite(byTime) { records[$0].time == records[$1].time }
        uniteAnswers()
        var orphans: [Int] = []
        for index in records.indices {
            let record = records[index]
            let originals = lineage.ancestors(of: record).compactMap { ancestor in
                self.index(of: ancestor, inClassOf: record) ?? self.index(of: ancestor, withPromptOf: record)
            }
            for original in originals { unite(index, original) }
            if originals.isEmpty, record.isInOrigin { orphans.append(index) }
        }
        adopt(orphans)
    }

    var groups: [[TokenEntry]] {
        if records.count == 1 { return [records] }
        var groups: [Int: [TokenEntry]] = [:]
        for index in records.indices { groups[root(of: index), default: []].append(records[index]) }
        return groups.keys.sorted().map { groups[$0]! }
    }

    /// Whether a record of a side chain repeats one of these.
    func contains(recordRelatedTo side: TokenEntry) -> Bool {
        guard side.hasForeignID else { return !records.isEmpty }
        let thread = lineage.thread(of: side)
        let ancestors = lineage.ancestors(of: side)
        return records.contains { record in
            // A replay under a request id of its own has a prompt of its own too. Who reuses the ids of answers states
            // no request id, or reuses that as well.
            let isReplay =
                record.hasRequestID && side.hasRequestID
                && (record.variant != side.variant || record.isOfAnswer(of: side))
            guard record.hasPrompt(of: side) || isReplay else { return false }
            let other = lineage.thread(of: record)
            return other == thread || record.time == side.time || ancestors.contains(other)
                || record.isOfAnswer(of: side)
        }
    }

    private mutating func uniteAnswers() {
        uniteAnswers { [lineage] in lineage.thread(of: $0) }
        uniteAnswers { UInt64(bitPattern: $0.time) }
        uniteAnswers { UInt64($0.prompt) }
    }

    /// Unites records whose keys are equal.
    private mutating func uniteAnswers(by key: (TokenEntry) -> UInt64) {
        let answers = records.indices.filter { records[$0].hasRequestID }.map { index in
            (index, ignoresVariants ? 0 : records[index].variant, key(records[index]))
        }.sorted { ($0.1, $0.2, records[$0.0].time) < ($1.1, $1.2, records[$1.0].time) }
        for (left, right) in zip(answers, answers.dropFirst())
        where left.1 == right.1 && left.2 == right.2 && records[left.0].isOfAnswer(of: records[right.0]) {
            unite(left.0, right.0)
        }
    }

    /// The order of classes; nil within one, whose records would be one request in one file.
    private func order(_ left: Int, _ right: Int) -> Bool? {
        records[left].classOrder(in: records[right], ignoringVariants: ignoresVariants)
    }

    private mutating func unite(_ sorted: [Int], where isSame: (Int, Int) -> Bool) {
        for (left, right) in zip(sorted, sorted.dropFirst()) where order(left, right) == nil && isSame(left, right) {
            unite(left, right)
        }
    }

    private mutating func unite(_ left: Int, _ right: Int) {
        let (left, right) = (root(of: left), root(of: right))
        parents[max(left, right)] = min(left, right)
    }

    private func root(of index: Int) -> Int {
        var index = index
        while parents[index] != index { index = parents[index] }
        return index
    }

    /// A copy of the last lines does not tell how often counts had begun again before.
    private func index(of thread: UInt64, withPromptOf record: TokenEntry) -> Int? {
        guard records.count <= Self.searchLimit else { return nil }
        return records.firstIndex {
            $0.hasPrompt(of: record) && lineage.thread(of: $0) == thread
        }
    }

    private static let searchLimit = 64

    private func index(of thread: UInt64, inClassOf record: TokenEntry) -> Int? {
        let found = first(of: byThread, inClassOf: record) { lineage.thread(of: $0) < thread }
        return found.flatMap { lineage.thread(of: records[$0]) == thread ? $0 : nil }
    }

    /// Unites declared copies with originals in any thread: what is said to be the origin may have copies itself.
    private mutating func adopt(_ orphans: [Int]) {
        guard !orphans.isEmpty else { return }
        let originals = byThread.filter { !records[$0].isInOrigin }
        for orphan in orphans {
            if let original = first(of: originals, inClassOf: records[orphan]) { unite(orphan, original) }
        }
    }

    /// The first index in a class, of indices in the order of classes, behind those that are skipped there.
    private func first(
        of sorted: [Int], inClassOf record: TokenEntry, skipping isSkipped: (TokenEntry) -> Bool = { _ in false }
    ) -> Int? {
        func order(_ other: TokenEntry) -> Bool? { other.classOrder(in: record, ignoringVariants: ignoresVariants) }
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            let other = records[sorted[middle]]
            if order(other) ?? isSkipped(other) { low = middle + 1 } else { high = middle }
        }
        return low < sorted.count && order(records[sorted[low]]) == nil ? sorted[low] : nil
    }
}
