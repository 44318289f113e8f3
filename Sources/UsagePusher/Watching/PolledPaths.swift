import LocalFiles

/// Finds changes of paths that the system does not report, by comparing what `stat` shows in rounds of bounded cost.
///
/// A round inspects the added paths and the most recently modified entries below them, and continues a tour of all
/// directories with the rest of `WatchLimits.inspectionCount`. The next round finds every change as long as there are
/// at most half as many entries; of more, the changes of the recent ones, and the tour finds the others. What a
/// directory costs beyond the limit is saved in the rounds that follow.
struct PolledPaths: Sendable {
    private let limits: WatchLimits
    private var anchors: [Anchor] = []
    private var directories: [Key: Directory] = [:]
    /// The tour; the next directory is at `position`.
    private var tour: [Key] = []
    private var position = 0
    private var recent: [Key: Entry] = [:]
    /// Modification time that an entry needs to become a recent one.
    private var horizon = Int64.min
    /// Directory entries that may still be listed for the first time.
    private var entryBudget: Int
    /// Inspections of this round, and those that earlier rounds made beyond the limit.
    private var inspections = 0
    /// Whether directories were left out: more than `entryCount` entries, or too many directories.
    private(set) var isIncomplete = false

    /// Bounds the memory, to some 10 MB.
    private static let directoryLimit = 32_768

    private struct Key: Hashable {
        var identity: FileStatus.Identity
        /// Index of a watched path.
        var root: Int
    }

    /// A watched path, present or not.
    private struct Anchor {
        var watched: WatchedPath
        var root: Int
        var status: FileStatus?
    }

    private struct Directory {
        var path: String
        /// Levels of directories below it.
        var depth: Int
        /// Changes with a name in it.
        var modified: Int64
        /// A digest of its entries' statuses, in any order.
        var digest: Int
    }

    private struct Entry {
        var path: String
        var status: FileStatus
    }

    init(limits: WatchLimits) {
        self.limits = limits
        entryBudget = limits.entryCount
    }

    var isEmpty: Bool { anchors.isEmpty && directories.isEmpty }

    /// Polls a watched path, and all below it.
    mutating func add(_ watched: WatchedPath, root: Int) {
        let anchor = Anchor(watched: watched, root: root, status: FileStatus.visible(at: watched.path))
        anchors.append(anchor)
        withoutDebt { $0.discover(anchor) }
    }

    /// Polls a directory and the directories at most `depth` levels below it.
    mutating func addTree(_ path: String, root: Int, depth: Int) {
        withoutDebt { $0.discover(path, root: root, depth: depth) }
    }

    /// What is inspected to know the state before the first round is no round's.
    private mutating func withoutDebt(_ body: (inout PolledPaths) -> Void) {
        let before = inspections
        body(&self)
        inspections = before
    }

    /// Returns the indices of the watched paths that changed since the last round.
    mutating func round() -> Set<Int> {
        var changed: Set<Int> = []
        entryBudget = limits.entryCount
        inspections = max(0, inspections - limits.inspectionCount)
        compareAnchors(&changed)
        compareRecent(&changed)
        var visits = tour.count
        while inspections < limits.inspectionCount, visits > 0 {
            visits -= 1
            if position >= tour.count { position = 0 }
            if visit(tour[position], &changed) {
                position += 1
            } else {
                directories[tour[position]] = nil
                tour.swapAt(position, tour.count - 1)
                tour.removeLast()
            }
        }
        return changed
    }

    private mutating func discover(_ anchor: Anchor) {
        guard anchor.status?.kind == .directory else { return }
        discover(anchor.watched.path, root: anchor.root, depth: anchor.watched.isRecursive ? limits.depth : 0)
    }

    private mutating func discover(_ path: String, root: Int, depth: Int) {
        var waiting = [(path: path, depth: depth)]
        while let (path, depth) = waiting.popLast() {
            guard let status = FileStatus.visible(at: path), status.kind == .directory else { continue }
            let key = Key(identity: status.identity, root: root)
            let known = directories[key]
            if let known {
                let isMoved =
                    known.path != path
                    && FileStatus.visible(at: known.path)?.identity != key.identity
                guard isMoved else { continue }
            }
            guard directories.count < Self.directoryLimit, entryBudget > 0 else {
                isIncomplete = true
                return
            }
            let list = list(path, root: root, limit: entryBudget)
            entryBudget -= list.count
            if known == nil { tour.append(key) }
            directories[key] = Directory(path: path, depth: depth, modified: status.modified, digest: list.digest)
            addRecent(Entry(path: path, status: status), root: root)
            if depth > 0 { waiting += list.directories.map { ($0, depth - 1) } }
        }
    }

    private mutating func compareAnchors(_ changed: inout Set<Int>) {
        inspections += anchors.count
        for index in anchors.indices {
            let status = FileStatus.visible(at: anchors[index].watched.path)
            guard status != anchors[index].status else { continue }
            anchors[index].status = status
            changed.insert(anchors[index].root)
            discover(anchors[index])
        }
    }

    private mutating func compareRecent(_ changed: inout Set<Int>) {
        inspections += recent.count
        for (key, entry) in recent {
            let status = FileStatus.visible(at: entry.path)
            guard status != entry.status else { continue }
            changed.insert(key.root)
            recent[key] = nil
            if let status { addRecent(Entry(path: entry.path, status: status), root: key.root) }
            if directories[key] != nil { _ = visit(key, &changed) }
        }
    }

    /// Compares the entries of a directory. Returns false when it is gone from its path.
    private mutating func visit(_ key: Key, _ changed: inout Set<Int>) -> Bool {
        guard let directory = directories[key] else { return false }
        inspections += 1
        guard let status = FileStatus.visible(at: directory.path), status.kind == .directory,
            status.identity == key.identity
        else {
            changed.insert(key.root)
            return false
        }
        let list = list(directory.path, root: key.root, limit: limits.entryCount)
        if status.modified != directory.modified || list.digest != directory.digest {
            directories[key]?.modified = status.modified
            directories[key]?.digest = list.digest
            changed.insert(key.root)
        }
        if directory.depth > 0 {
            for path in list.directories {
                discover(path, root: key.root, depth: directory.depth - 1)
            }
        }
        return true
    }

    private mutating func list(
        _ path: String, root: Int, limit: Int
    ) -> (digest: Int, directories: [String], count: Int) {
        // What cannot be listed cannot be read by the sources either.
        let entries = (try? LocalDirectory(path).entries(limit: limit).entries) ?? []
        inspections += entries.count
        var digest = 0
        var directories: [String] = []
        for entry in entries {
            let child = WatchPath.join(path, entry.name)
            guard let status = FileStatus.visible(at: child) else { continue }
            if status.kind == .directory {
                directories.append(child)
                digest ^= status.identity.hashValue
            } else {
                addRecent(Entry(path: child, status: status), root: root)
                digest ^= status.hashValue
            }
        }
        return (digest, directories, entries.count)
    }

    private mutating func addRecent(_ entry: Entry, root: Int) {
        let capacity = limits.inspectionCount / 4
        guard entry.status.modified >= horizon || recent.count < capacity else { return }
        recent[Key(identity: entry.status.identity, root: root)] = entry
        guard recent.count > 2 * capacity else { return }
        let newest = recent.sorted { $0.value.status.modified > $1.value.status.modified }.prefix(capacity)
        horizon = newest.last?.value.status.modified ?? .min
        recent = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
    }
}
