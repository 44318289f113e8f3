package import Essentials

extension SnapshotMerge {
    /// Merges what several sources on one machine state, by the rules for several devices, so that an account has one
    /// card.
    ///
    /// A provider that only one source knows keeps its cards; all keep their order. The costs of a provider are never
    /// summed, since the sources have read the same logs: the first source that has some counts.
    package static func mergeSources(_ sources: [[ProviderUsageSnapshot]], now: Date) -> [ProviderUsageSnapshot] {
        var sourceCounts: [String: Int] = [:]
        for source in sources {
            for id in Set(source.map(\.providerID)) { sourceCounts[id, default: 0] += 1 }
        }
        let shared = Set(sourceCounts.filter { $0.value > 1 }.keys)
        guard !shared.isEmpty else { return sources.flatMap { $0 } }

        var withCosts: Set<String> = []
        let snapshots = sources.enumerated().map { index, source in
            var cards = source.filter { shared.contains($0.providerID) }
            for card in cards.indices where withCosts.contains(cards[card].providerID) {
                cards[card].costSummary = nil
            }
            withCosts.formUnion(cards.filter { $0.costSummary != nil }.map(\.providerID))
            return SyncedUsageSnapshot(providers: cards, syncTimestamp: now, deviceName: String(index))
        }
        let merged = Dictionary(
            grouping: merge(snapshots, now: now, areNamedApart: false).providers.map(\.snapshot),
            by: \.providerID)
        var seen: Set<String> = []
        return sources.flatMap { $0 }.flatMap { card in
            guard shared.contains(card.providerID) else { return [card] }
            return seen.insert(card.providerID).inserted ? merged[card.providerID] ?? [] : []
        }
    }
}
