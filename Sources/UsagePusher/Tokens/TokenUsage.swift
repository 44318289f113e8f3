import ClockZones
package import Essentials

/// The tokens of all tools of a home, by quarter of an hour, session and model.
package struct TokenUsage: Sendable {
    package var sessions: [TokenSession] = []
    package var models: [String] = []
    /// By session the name of the machine that it is of; none for this one alone.
    package var devices: [String] = []
    /// By time.
    package var buckets: [TokenBucket] = []
    /// With what deleted files have stated, by time.
    package var keptBuckets: [TokenBucket] = []
    /// Which cache `keptBuckets` are of: as long as it is the same one, nothing leaves them but by what files state.
    var cache: UInt64 = 0
    /// Files that were read, now or earlier, by `TokenLog.source`.
    package var files: [String: Files] = [:]
    /// Invalid records, and lines that are too long, by path; the worst first.
    package var leftOut: [LeftOut] = []
    /// Why files could not be read, each with its path.
    package var issues: [String] = []
    /// The files and directories that cannot be read, by `TokenLog.source`.
    package var unreadable: [String: [String]] = [:]
    /// Each `TokenLog.source` of which not even all files could be listed.
    package var unlisted: Set<String> = []

    package init() {}

    package struct Files: Sendable, Hashable {
        package var count = 0
        /// Those that have not been read to their end.
        package var unfinishedCount = 0
    }

    package struct LeftOut: Sendable, Hashable {
        package var path: String
        /// `TokenLog.source`.
        package var source: String
        package var count: Int
    }

    /// Whether files are left that have not been read to their end.
    package var isPartial: Bool {
        !unlisted.isEmpty || files.values.contains { $0.unfinishedCount > 0 }
    }

    /// Whether files of a `TokenLog.source` are left that have not been read to their end.
    package func isPartial(_ source: String) -> Bool {
        unlisted.contains(source) || (files[source]?.unfinishedCount ?? 0) > 0
    }

    /// Why the sums of a `TokenLog.source` may be too small; nil when they are complete.
    package func gap(of source: String) -> String? {
        if let paths = unreadable[source], let first = paths.first {
            return "\(first): cannot be read" + (paths.count > 1 ? " (and \(paths.count - 1) more)" : "")
        }
        if unlisted.contains(source) { return "there are more files than are listed" }
        return isPartial(source) ? "not all files have been read to their end" : nil
    }

    /// Why the sums of sources may be too small.
    var gaps: [(source: String, reason: String)] {
        Set(files.keys).union(unreadable.keys).union(unlisted).sorted().compactMap { source in
            gap(of: source).map { (source, $0) }
        }
    }

    /// Why the sums of providers may be too small, each with its id; of all without one.
    package func gaps(of providers: Set<String>) -> [String] {
        gaps.filter { providers.isEmpty || providers.contains($0.source) }.map { "\($0.source): \($0.reason)" }
    }

    /// The last day, since 1970 in UTC, that is believed: a tool's clock may be wrong, and time zones differ.
    static func lastDay(onDay today: Int) -> Int { today + 1 }

    /// Says how many requests `usage-push report` has and the ledger does not, because they are later than that.
    package func futureIssue(at now: Date) -> String? {
        let last = Self.lastDay(onDay: ClockZone.gmt.day(of: now))
        let count = keptBuckets.reduce(0) { Int($1.key.quarter) / 96 > last ? $0 + $1.requestCount : $0 }
        guard count > 0 else { return nil }
        let (requests, verb) = count == 1 ? ("request is", "is") : ("requests are", "are")
        return "\(count) \(requests) dated in the future, and \(verb) not in the ledger of past usage before that day"
    }

    /// The name of a bucket's model; nil when the tool names none.
    package func model(of bucket: TokenBucket) -> String? { name(ofModel: bucket.key.model) }

    func name(ofModel model: UInt16) -> String? { models.indices.contains(Int(model)) ? models[Int(model)] : nil }

    /// "unknown" without devices.
    func device(ofSession session: Int) -> String {
        devices.indices.contains(session) ? devices[session] : ReportQuery.unknownProject
    }

    package func session(of bucket: TokenBucket) -> TokenSession {
        sessions[Int(bucket.key.session)]
    }
}
