import Essentials
package import LocalFiles

/// The session days that count although no file is known any more that states them: their files are gone, and so is the
/// cache that knew them.
///
/// As long as a cache lasts, it has what deleted files have stated. What it has stated and does not state any more has
/// therefore moved to another day or session, or the tool has taken it back.
package struct LedgerOrphans: Sendable, Hashable, Codable {
    /// `TokenUsage.cache` of what was published last; nil before that.
    private var cache: UInt64?
    /// Sessions by day, each as in `SessionDay.Key`.
    private var days: [Int: Set<UInt64>] = [:]

    private static let keptDayCount = 400

    package init() {}

    func contain(_ key: SessionDay.Key) -> Bool { days[key.day]?.contains(key.session) ?? false }

    /// - Parameters:
    ///   - stored: what this machine has published.
    ///   - current: what its files state.
    ///   - cache: see `TokenUsage.cache`.
    ///   - copies: see `TokenLedger.copies`.
    mutating func update(
        _ stored: [SessionDay], _ current: [SessionDay.Key: SessionDay], of cache: UInt64, today: Int,
        copies: (Set<SessionDay.Key>) -> [SessionDay.Key: UInt64] = { _ in [:] }
    ) {
        let isNew = cache != self.cache
        self.cache = cache
        let copies = isNew ? copies(Set(stored.lazy.map(\.key).filter { current[$0] == nil })) : [:]
        for entry in stored where isNew || contain(entry.key) {
            // If a day is stated in part, it is not known which part that is.
            let isLess = current[entry.key].map { entry.amount.isMore(than: $0.amount) } ?? true
            if isLess, copies[entry.key] != entry.fingerprint {
                days[entry.key.day, default: []].insert(entry.key.session)
            } else {
                days[entry.key.day]?.remove(entry.key.session)
            }
        }
        // What is in a page that cannot be read now may be there again; after that time it has become a sum.
        let old = today - Self.keptDayCount
        let keys = Set(stored.lazy.map(\.key).filter { $0.day < old })
        for (day, sessions) in days {
            let kept = day < old ? sessions.filter { keys.contains(.init(day: day, session: $0)) } : sessions
            days[day] = kept.isEmpty ? nil : kept
        }
    }
}

extension UsageAmount {
    fileprivate func isMore(than other: UsageAmount) -> Bool {
        (requestCount, counts.total) > (other.requestCount, other.counts.total)
    }
}

/// They, of this machine: `ledger-orphans.json` in the state directory, 0600.
package struct LedgerOrphansFile: Sendable {
    private let file: LocalFile
    private static let byteLimit = 8 * 1_048_576

    package init(_ environment: SourceEnvironment) {
        file = LocalFile(environment.stateDirectory + "/ledger-orphans.json")
    }

    /// Without it, all that is published and not stated is orphaned.
    package func read() -> LedgerOrphans {
        // As described, here and below.
        guard let data = try? file.read(byteLimit: Self.byteLimit)?.data else { return LedgerOrphans() }
        // As if there were none, which keeps what is stored.
        return (try? JSONDecoder().decode(LedgerOrphans.self, from: data)) ?? LedgerOrphans()
    }

    package func write(_ orphans: LedgerOrphans) throws(FileError) {
        // Numbers can be encoded.
        guard orphans != read(), let data = try? JSONEncoder().encode(orphans) else { return }
        try file.directory.create()
        try file.replace(with: data)
    }
}
