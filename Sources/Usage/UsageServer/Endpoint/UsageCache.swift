import Essentials
import KVStoreCore
import KVStoreServer
import KVStoreWire
import UsageState

/// The decoded usage of the stores that were asked about last.
struct UsageCache {
    /// What all values that are kept decoded may have: as much as one store.
    static let byteLimit = StoreLimits.ceiling.totalByteCount

    private struct Entry {
        var store: StoreID
        var versions: [SequencedRecord.Version]
        var usage: StoredUsage
        var byteCount: Int
    }

    /// What cards depend on. Times are in them as times, but the merge and the days of costs depend on the time too.
    struct CardsKey: Equatable {
        var store: StoreID
        var versions: [SequencedRecord.Version]
        var query: UsageQuery
        var devices: [DaemonDevice]
        var minute: Int
    }

    /// The one asked about last is the last.
    private var entries: [Entry] = []
    /// Shared by all pages, which ask for them when a store changes: of each query the newest, of which the last one is
    /// the newest. Each names all devices of the account.
    private(set) var cards: [(key: CardsKey, document: UsageDocument)] = []
    private static let cardsCount = 8

    /// - Parameters:
    ///   - records: those of the store that usage is read from.
    ///   - devices: of the account.
    mutating func document(
        of store: StoreID, in records: [SequencedRecord], for query: UsageQuery, devices: [DaemonDevice], now: Date
    ) throws(Problem) -> UsageDocument {
        let versions = records.map(\.version)
        let key = CardsKey(
            store: store, versions: versions, query: query,
            devices: devices.map { device in
                var device = device
                // It is seen at every request, and nothing is said of that while it is connected.
                if device.connected { device.lastSeen = nil }
                return device
            }, minute: now.timeIntervalSince1970.wholeSeconds / 60)
        if let kept = cards.first(where: { $0.key == key }) { return kept.document }
        let document = try UsageDocument(
            usage(of: store, in: records, versions).data(
                link: .online, at: now, devices: ListedDevices(devices, listedAt: now)),
            devices: devices, query: query, now: now)
        if query.format == .cards {
            let others = cards.filter { $0.key.store != store || $0.key.query != query }
            cards = others.suffix(Self.cardsCount - 1) + [(key, document)]
        }
        return document
    }

    private mutating func usage(
        of store: StoreID, in records: [SequencedRecord], _ versions: [SequencedRecord.Version]
    ) -> StoredUsage {
        let found = entries.firstIndex { $0.store == store }.map { entries.remove(at: $0) }
        let kept = found.flatMap { $0.versions == versions ? $0.usage : nil }
        let usage = kept ?? StoredUsage(values: records.dataByKey)
        entries.append(
            Entry(
                store: store, versions: versions, usage: usage,
                byteCount: records.reduce(0) { $0 + $1.record.content.byteCount }))
        while entries.reduce(0, { $0 + $1.byteCount }) > Self.byteLimit { entries.removeFirst() }
        return usage
    }
}
