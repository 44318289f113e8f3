import LocalFiles

extension TokenLedger {
    /// The requests of sessions on given days, by all that their files have ever stated; see `TokenUsage.sessionDays`.
    ///
    /// - Returns: those of which the requests are known.
    package func requests(
        of keys: Set<SessionDay.Key>, prices: ModelPrices
    ) -> [SessionDay.Key: [LedgerRequest]] {
        guard !keys.isEmpty, let cacheFile else { return [:] }
        return
            // Without a cache nothing is known of single requests.
            (try? cacheFile.withOpen { file throws(FileError) in
                guard let cache = TokenCache.read(file) else { return [:] }
                let hashes = cache.sessions.map { SessionDay.hash(ContentHash.of($0.source, $0.id)) }
                let matches = cache.models.map(prices.match)
                let merge = TokenMerge(
                    lineage: TokenLineage(sessions: cache.sessions, files: cache.files.map(\.thread)))
                var requests: [SessionDay.Key: [LedgerRequest]] = [:]
                for part in cache.parts {
                    guard let entries = part.entries(in: file) else { return [:] }
                    merge.count(entries) { entry in
                        let model = Int(entry.model)
                        let bucket = TokenBucket(entry, price: model < matches.count ? matches[model] : nil)
                        let day = Int(bucket.key.quarter) / 96
                        let key = SessionDay.Key(day: day, session: hashes[Int(entry.session)])
                        guard keys.contains(key) else { return }
                        let name = cache.models.indices.contains(model) ? cache.models[model] : nil
                        requests[key, default: []].append(
                            LedgerRequest(id: SessionDay.hash(entry.ledgerID), line: LedgerLine(bucket, model: name)))
                    }
                }
                return requests.mapValues { $0.sorted { $0.id < $1.id } }
            }) ?? [:]
    }
}
