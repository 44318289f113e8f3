/// Which threads continue which: what tells that an equal record in another file is a copy.
struct TokenLineage: Sendable {
    /// A file's thread, 0 for that of each record's session, and the thread whose lines the file says that it has too,
    /// 0 for none.
    struct Thread: Sendable, BitwiseCopyable {
        var id: UInt64 = 0
        var origin: UInt64 = 0
    }

    private static let depthLimit = 64

    /// By the number of a session something that is the same in every run, and the thread of files that declare none.
    private let sessions: [(order: UInt64, thread: UInt64)]
    /// By the number of a file.
    private let files: [Thread]
    /// By the number of a file what orders them by age; empty where that is not known.
    private let ages: [Int64]
    /// By thread, for those that have a file.
    private var origins: [UInt64: UInt64] = [:]

    init(sessions: [TokenSession], files: [Thread] = [], ages: [Int64] = []) {
        self.sessions = sessions.map { ($0.hash, ContentHash.of($0.source, $0.id)) }
        self.files = files
        self.ages = ages
        for file in files where file.id != 0 {
            origins[file.id] = max(origins[file.id] ?? 0, file.origin)
        }
    }

    /// The order of what nothing else tells apart: the file that was there first.
    func order(of entry: TokenEntry) -> (Int64, UInt64) {
        (Int(entry.file) < ages.count ? ages[Int(entry.file)] : 0, sessions[Int(entry.session)].order)
    }

    func order(ofSession session: UInt32) -> UInt64 { sessions[Int(session)].order }

    func thread(of entry: TokenEntry) -> UInt64 {
        let declared = file(of: entry).id
        return declared != 0 ? declared : sessions[Int(entry.session)].thread
    }

    /// Whether a copy can be told only by its time: the file does not say of which thread it is.
    func isKnownByTime(_ entry: TokenEntry) -> Bool { file(of: entry).id == 0 }

    /// Whether the entry's file continues another thread.
    func isContinuation(_ entry: TokenEntry) -> Bool { file(of: entry).origin != 0 }

    /// Whether the thread that the entry's file continues has a file.
    func hasOrigin(_ entry: TokenEntry) -> Bool { origins[file(of: entry).origin] != nil }

    /// The threads that an entry's file continues, the nearest first, without those of a circle.
    func ancestors(of entry: TokenEntry) -> [UInt64] {
        var origin = file(of: entry).origin
        guard origin != 0 else { return [] }
        let thread = thread(of: entry)
        var ancestors: [UInt64] = []
        while origin != 0, origin != thread, !ancestors.contains(origin), ancestors.count < Self.depthLimit {
            ancestors.append(origin)
            origin = origins[origin] ?? 0
        }
        return ancestors
    }

    private func file(of entry: TokenEntry) -> Thread {
        Int(entry.file) < files.count ? files[Int(entry.file)] : Thread()
    }
}
