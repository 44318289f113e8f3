import KVStoreCore

/// What a simulation run knows of one store, apart from what the store reports.
struct StoreFacts {
    /// The greatest record of each key that the daemon has acknowledged and must not lose.
    var acknowledged: [StoreKey: StoreRecord] = [:]
    /// Removals that the daemon was allowed to forget, with their stamps.
    var forgotten: [StoreKey: StoreStamp] = [:]
    /// The greatest sequence number of a removal that is forgotten: readers below it have to start over.
    var forgottenSequence: UInt64 = 0
    /// Tombstones that may be forgotten: writing that failed, and only the next start shows what is on disk.
    var uncertain: [SequencedRecord] = []
    /// Records that a device still had to send when the daemon forgot a removal: they may come back.
    var resendable: Set<StoreRecord> = []
    /// Records that were gone when the daemon forgot a removal, and must not come back.
    var buried: Set<StoreRecord> = []
    /// The greatest record of each key that a device has flushed after its first download.
    private(set) var flushed: [StoreKey: StoreRecord] = [:]
    /// Everything the daemon has ever held.
    var everHeld: Set<StoreRecord> = []
    /// The first value that was sent under each stamp.
    var firstOfStamp: [StoreStamp: StoreRecord] = [:]
    /// What devices had on disk when the daemon lost a part of its history, by device.
    var mustReturn: [(device: Int, record: StoreRecord)] = []
    /// The history of the present run of the daemon: which key a number belongs to, and the last one of each key.
    var keyOfSequence: [UInt64: StoreKey] = [:]
    var lastSequence: [StoreKey: UInt64] = [:]
    /// Up to where a sync has covered the daemon's history.
    var durableSequence: UInt64 = 0

    /// The greatest stamp of each key that the daemon has refused.
    var refused: [StoreKey: StoreStamp] = [:]

    /// Whether the record, or what replaced it, was rejected and then reissued with a lower stamp.
    func mayHaveGoneBack(_ record: StoreRecord) -> Bool {
        refused[record.key].map { record.stamp <= $0 } == true
    }

    mutating func rememberFlushed(_ record: StoreRecord) {
        if let known = flushed[record.key], !record.supersedes(known) { return }
        flushed[record.key] = record
    }

    /// Begins a run of the daemon.
    mutating func begin(with hub: Hub?) {
        keyOfSequence = [:]
        lastSequence = [:]
        durableSequence = hub?.sequence ?? 0
        for entry in (hub?.entries ?? [:]).values { remember(entry) }
        for entry in uncertain where lastSequence[entry.record.key] != entry.sequence {
            forget(through: entry.sequence)
        }
        uncertain = []
    }

    mutating func forget(through sequence: UInt64) {
        forgottenSequence = max(forgottenSequence, sequence)
    }

    mutating func remember(_ entry: SequencedRecord) {
        keyOfSequence[entry.sequence] = entry.record.key
        lastSequence[entry.record.key] = entry.sequence
    }

    /// The numbers behind `start` up to `end` whose keys have not changed again since.
    func current(after start: UInt64, through end: UInt64) -> [UInt64] {
        guard start < end else { return [] }
        return lastSequence.values.filter { $0 > start && $0 <= end }
    }
}
