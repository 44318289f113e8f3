/// A download of everything, page by page. The replica's cursor moves only when it is complete; until then
/// `ReplicaState.partialDownload` says how far it has come.
struct FullDownload: Sendable, Equatable {
    struct Progress: Sendable, Equatable {
        var cursor: SyncCursor
        /// The daemon's horizon when the download began.
        var horizon: UInt64
        /// The daemon's history as the first page named it.
        let lineage: [SyncCursor]
    }

    /// Whether it is the replica's first one.
    let isFirst: Bool
    /// How far an earlier download came that was not completed.
    let abandoned: SyncCursor?
    /// Keys that were acknowledged when the download was requested: those that the daemon no longer holds go when it
    /// is complete. Keys acknowledged later are not judged by it, unless the daemon has lost history.
    let candidates: [StoreKey: StoreStamp]
    /// Nil until the first page has come.
    private(set) var progress: Progress?
    /// What the daemon holds. Only pages count: what a stream brings meanwhile may belong to a lost history.
    var seen: [StoreKey: StoreRecord] = [:]

    init(isFirst: Bool, abandoned: SyncCursor?, candidates: [StoreKey: StoreStamp]) {
        self.isFirst = isFirst
        self.abandoned = abandoned
        self.candidates = candidates
    }

    mutating func advance(with page: SyncResponse) throws(SyncTransportError) {
        guard page.isInitial == (progress == nil) else {
            throw .malformed("the history changed between two pages")
        }
        progress = Progress(cursor: page.cursor, horizon: page.horizon, lineage: progress?.lineage ?? page.lineage)
    }

    /// Whether the daemon's history contains a cursor.
    func contains(_ cursor: SyncCursor) -> Bool {
        progress?.lineage.contains {
            $0.epoch == cursor.epoch && cursor.sequence <= $0.sequence
        } ?? false
    }

    /// Whether the daemon has lost what it does not hold, rather than forgotten a removal of it.
    ///
    /// A replica that knew everything up to the horizon has seen all removals that are forgotten; one whose
    /// cursor is not in the daemon's history cannot tell, and keeps what it has. One whose damaged log does
    /// not say how far it was knows only that nothing is forgotten while the horizon is 0.
    ///
    /// - Parameter known: the replica's cursor.
    func showsLoss(since known: SyncCursor?) -> Bool {
        if let abandoned, !contains(abandoned) { return true }
        guard let known else { return progress?.horizon == 0 }
        return known.sequence >= progress?.horizon ?? .max || !contains(known)
    }
}
