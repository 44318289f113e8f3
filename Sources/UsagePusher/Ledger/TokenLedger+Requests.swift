package import ClockZones
import LocalFiles

extension TokenLedger {
    /// The requests of sessions on given days, by all that their files have ever stated; see `TokenUsage.sessionDays`.
    ///
    /// - Returns: those of which the requests are known.
    package func requests(
        of keys: Set<SessionDay.Key>, prices: ModelPrices, zone: ClockZone
    ) -> [SessionDay.Key: [LedgerRequest]] {
        guard !keys.isEmpty else { return [:] }
        var requests: [SessionDay.Key: [LedgerRequest]] = [:]
        var clock = ReportClock(zone: zone)
        var names: (sessions: [UInt64], prices: [PriceMatch?])?
        let isWhole = forEachKept { entry, cache, _ in
            let known = names ?? (cache.sessions.map(\.ledgerHash), cache.models.map(prices.match))
            names = known
            let key = SessionDay.Key(entry, known.sessions[Int(entry.session)])
            guard keys.contains(key) else { return }
            let model = cache.models.indices.contains(Int(entry.model)) ? Int(entry.model) : nil
            let line = LedgerLine(
                TokenBucket(entry, price: model.flatMap { known.prices[$0] }), model: model.map { cache.models[$0] },
                &clock)
            requests[key, default: []].append(LedgerRequest(id: SessionDay.hash(entry.ledgerID), line: line))
        }
        return isWhole ? requests.mapValues { $0.sorted { $0.id < $1.id } } : [:]
    }

    /// The fingerprints of what is declared a copy of sessions on given days, and counts in its place.
    package func copies(of keys: Set<SessionDay.Key>) -> [SessionDay.Key: UInt64] {
        guard !keys.isEmpty else { return [:] }
        var sums: [SessionDay.Key: UInt64] = [:]
        let isWhole = forEachKept { entry, _, lineage in
            guard entry.isInOrigin || entry.isProbableCopy else { return }
            for origin in lineage.ancestors(of: entry) {
                let key = SessionDay.Key(entry, SessionDay.hash(origin))
                if keys.contains(key) { sums[key, default: 0] &+= entry.fingerprint }
            }
        }
        return isWhole ? sums.mapValues(SessionDay.hash) : [:]
    }

    /// Passes on what counts of all that files have ever stated; returns false when that is not known.
    private func forEachKept(_ body: (TokenEntry, TokenCache, TokenLineage) -> Void) -> Bool {
        // Without a cache nothing is known of single requests.
        let isWhole = try? cacheFile?.withOpen { file throws(FileError) in
            guard let cache = TokenCache.read(file) else { return false }
            let lineage = TokenLineage(
                sessions: cache.sessions, files: cache.files.map(\.thread), ages: cache.files.map(\.since))
            let merge = TokenMerge(lineage: lineage)
            for part in cache.parts {
                guard let entries = part.entries(in: file) else { return false }
                merge.count(entries) { body($0, cache, lineage) }
            }
            return true
        }
        return isWhole ?? false
    }
}

extension SessionDay.Key {
    fileprivate init(_ entry: TokenEntry, _ session: UInt64) {
        self.init(day: Int(entry.time / TokenBucket.quarter) / 96, session: session)
    }
}
