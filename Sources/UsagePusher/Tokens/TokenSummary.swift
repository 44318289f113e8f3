package import Essentials

/// What the logs of one tool add up to, for a list of tools.
package struct TokenSummary: Sendable, Hashable {
    package var requestCount = 0
    package var counts = TokenCounts()
    package var first: Date
    package var last: Date
    package var fileCount = 0
    /// The worst first.
    package var leftOut: [TokenUsage.LeftOut] = []
    /// Whether files of the tool are left that have not been read to their end.
    package var isPartial = false
    /// Files and directories that cannot be read.
    package var unreadableCount = 0
}

extension TokenUsage {
    /// The sums of each provider, by its id; none for one without requests.
    ///
    /// - Parameter sources: of `UsageSources.all`.
    package func summaries(of sources: [any UsageSource]) -> [String: TokenSummary] {
        var byLog: [String: TokenSummary] = [:]
        for bucket in buckets {
            let log = session(of: bucket).source
            let first = Date(timeIntervalSince1970: Double(bucket.first) / 1_000)
            let last = Date(timeIntervalSince1970: Double(bucket.last) / 1_000)
            var sum = byLog[log] ?? TokenSummary(first: first, last: last)
            sum.requestCount &+= bucket.requestCount
            sum.counts += bucket.counts
            sum.first = min(sum.first, first)
            sum.last = max(sum.last, last)
            byLog[log] = sum
        }
        var summaries: [String: TokenSummary] = [:]
        for source in sources {
            guard let recording = source as? any TokenRecording else { continue }
            let logs = Set(recording.tokenLogs.map(\.source))
            let sums = logs.sorted().compactMap { byLog[$0] }
            guard var summary = sums.first else { continue }
            for sum in sums.dropFirst() {
                summary.requestCount &+= sum.requestCount
                summary.counts += sum.counts
                summary.first = min(summary.first, sum.first)
                summary.last = max(summary.last, sum.last)
            }
            let files = logs.compactMap { self.files[$0] }
            summary.fileCount = files.reduce(0) { $0 + $1.count }
            summary.isPartial = logs.contains(where: isPartial)
            summary.unreadableCount = logs.reduce(0) { $0 + (unreadable[$1]?.count ?? 0) }
            summary.leftOut = leftOut.filter { logs.contains($0.source) }
            summaries[source.providerID] = summary
        }
        return summaries
    }
}
