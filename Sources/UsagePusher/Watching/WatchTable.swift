/// Which folder is watched for what, and what a notice of the system about it means.
///
/// A watched path is watched from the root down: every folder on the way is asked about the one
/// name that leads on, so a path that does not exist yet, or is moved away and made anew, needs no
/// case of its own. The table decides; it looks at no file.
struct WatchTable: Sendable, Equatable {
    /// Why a folder is watched.
    enum Role: Sendable, Equatable {
        /// The name in it is a part of root number `root`.
        case component(String, root: Int, kind: WatchedEntry.Kind, isLast: Bool)
        /// Everything directly in it counts.
        case contents(root: Int)
        /// Everything in it and below counts; `depth` folders further down at most.
        case tree(root: Int, depth: Int)
    }

    private struct Place: Sendable, Equatable {
        var path: String
        var role: Role
    }

    private var places: [Int32: [Place]] = [:]

    var folderCount: Int { places.count }

    func holds(_ descriptor: Int32) -> Bool { places[descriptor] != nil }

    /// Whether the folder belongs to the root's tree already, by this or by another path.
    func isInTree(_ descriptor: Int32, root: Int) -> Bool {
        (places[descriptor] ?? []).contains { place in
            if case .tree(root, _) = place.role { true } else { false }
        }
    }

    mutating func add(_ descriptor: Int32, path: String, role: Role) {
        let place = Place(path: path, role: role)
        guard !places[descriptor, default: []].contains(place) else { return }
        places[descriptor, default: []].append(place)
    }

    /// What to do about a notice, added to `outcome`.
    mutating func interpret(_ notice: WatchNotice, into outcome: inout WatchOutcome) {
        if notice.kinds.contains(.overflow) {
            outcome.isRebuildNeeded = true
            return
        }
        guard let places = places[notice.descriptor] else { return }
        if !notice.kinds.isDisjoint(with: [.selfDeleted, .selfMoved, .ignored]) {
            // A folder inside a tree is announced by its parent too; only its watch is over.
            let isInner = places.allSatisfy { if case .tree = $0.role { true } else { false } }
            if isInner, notice.kinds.isDisjoint(with: [.selfMoved]) {
                self.places[notice.descriptor] = nil
            } else {
                outcome.isRebuildNeeded = true
            }
            return
        }
        for place in places { interpret(notice, at: place, into: &outcome) }
    }

    private func interpret(
        _ notice: WatchNotice, at place: Place, into outcome: inout WatchOutcome
    ) {
        let path = WatchPath.join(place.path, notice.name)
        let isStructural = !notice.kinds.isDisjoint(with: [.appeared, .disappeared])
        switch place.role {
        case .component(notice.name, let root, let kind, let isLast):
            if isLast, kind == .file || kind == .missing {
                outcome.changed.insert(root)
                if notice.kinds.contains(.appeared) { outcome.mayHaveBecomeFolder.insert(path) }
            } else if isStructural {
                outcome.changed.insert(root)
                outcome.isRebuildNeeded = true
            }
        case .component: break
        case .contents(let root): outcome.changed.insert(root)
        case .tree(let root, let depth):
            outcome.changed.insert(root)
            guard isStructural else { return }
            if notice.kinds.contains(.appeared) {
                guard depth > 0 else { return }
                outcome.newEntries.append(.init(path: path, root: root, depth: depth - 1))
            } else if notice.kinds.isSuperset(of: [.disappeared, .moved, .folder]) {
                // Its watches go with it to wherever it is now.
                outcome.isRebuildNeeded = true
            }
        }
    }
}

/// One notice of the system about a watched folder.
struct WatchNotice: Sendable, Equatable {
    var descriptor: Int32
    var kinds: Kinds
    /// The entry of the folder that is meant; empty when it is the folder itself.
    var name = ""

    struct Kinds: OptionSet, Sendable, Hashable {
        let rawValue: Int

        static let appeared = Kinds(rawValue: 1 << 0)
        static let disappeared = Kinds(rawValue: 1 << 1)
        static let moved = Kinds(rawValue: 1 << 2)
        static let modified = Kinds(rawValue: 1 << 3)
        /// The entry is a folder.
        static let folder = Kinds(rawValue: 1 << 4)
        static let selfDeleted = Kinds(rawValue: 1 << 5)
        static let selfMoved = Kinds(rawValue: 1 << 6)
        /// The watch is over: the folder or its file system is gone.
        static let ignored = Kinds(rawValue: 1 << 7)
        /// Notices were lost; belongs to no folder.
        static let overflow = Kinds(rawValue: 1 << 8)
    }
}

/// What a batch of notices asks for.
struct WatchOutcome: Sendable, Equatable {
    struct NewEntry: Sendable, Equatable {
        var path: String
        var root: Int
        var depth: Int
    }

    /// Numbers of the watched paths that changed.
    var changed: Set<Int> = []
    /// Entries that appeared in a tree: watch the ones that are folders.
    var newEntries: [NewEntry] = []
    /// Where a file was expected; a folder or link there needs a rebuild.
    var mayHaveBecomeFolder: Set<String> = []
    /// Watch everything anew; all paths count as changed.
    var isRebuildNeeded = false
}
