import LocalFiles

/// Which directory is watched for what, and what an event of the system about it means.
///
/// A path is watched from the root down: in every directory on the way the one name that leads on
/// is watched, so a path that does not exist yet, or is moved away and recreated, needs no special
/// case. The table decides; it accesses no file.
struct WatchTable: Sendable, Equatable {
    /// Why a directory is watched; `root` is the index of a watched path.
    enum Role: Sendable, Equatable {
        /// The name in it is a component of the root; `kind` is nil when nothing has that name.
        case component(String, root: Int, kind: FileStatus.Kind?, isLast: Bool)
        /// Everything directly in it counts.
        case contents(root: Int)
        /// Everything in it and at most `depth` levels below counts.
        case tree(root: Int, depth: Int)

        fileprivate var isTree: Bool { if case .tree = self { true } else { false } }
    }

    private struct Watch: Sendable, Equatable {
        var path: String
        var role: Role
    }

    private var watches: [Int32: [Watch]] = [:]

    var directoryCount: Int { watches.count }

    func contains(_ descriptor: Int32) -> Bool { watches[descriptor] != nil }

    /// Whether the directory belongs to the root's tree already, by this or another path.
    func isInTree(_ descriptor: Int32, root: Int) -> Bool {
        (watches[descriptor] ?? []).contains { watch in
            if case .tree(root, _) = watch.role { true } else { false }
        }
    }

    mutating func add(_ descriptor: Int32, path: String, role: Role) {
        let watch = Watch(path: path, role: role)
        guard !watches[descriptor, default: []].contains(watch) else { return }
        watches[descriptor, default: []].append(watch)
    }

    /// Adds the consequences of an event to `outcome`.
    mutating func apply(_ event: DirectoryEvent, to outcome: inout WatchOutcome) {
        if event.kinds.contains(.overflow) {
            outcome.needsRebuild = true
            return
        }
        guard let watches = watches[event.descriptor] else { return }
        if !event.kinds.isDisjoint(with: [.selfDeleted, .selfMoved, .ignored]) {
            // The parent of a directory inside a tree reports it too; only its watch has ended.
            if watches.allSatisfy(\.role.isTree), !event.kinds.contains(.selfMoved) {
                self.watches[event.descriptor] = nil
            } else {
                outcome.needsRebuild = true
            }
            return
        }
        for watch in watches { Self.apply(event, at: watch, to: &outcome) }
    }

    private static func apply(_ event: DirectoryEvent, at watch: Watch, to outcome: inout WatchOutcome) {
        let path = WatchPath.join(watch.path, event.name)
        let isStructural = !event.kinds.isDisjoint(with: [.appeared, .disappeared])
        switch watch.role {
        case .component(event.name, let root, let kind, let isLast):
            if isLast, kind != .directory, kind != .link {
                outcome.changed.insert(root)
                if event.kinds.contains(.appeared) { outcome.possibleDirectories.insert(path) }
            } else if isStructural {
                outcome.changed.insert(root)
                outcome.needsRebuild = true
            }
        case .component: break
        case .contents(let root): outcome.changed.insert(root)
        case .tree(let root, let depth):
            outcome.changed.insert(root)
            guard isStructural else { return }
            if event.kinds.contains(.appeared) {
                guard depth > 0 else { return }
                outcome.newEntries.append(.init(path: path, root: root, depth: depth - 1))
            } else if event.kinds.isSuperset(of: [.disappeared, .moved, .directory]) {
                // Its watches have moved with it.
                outcome.needsRebuild = true
            }
        }
    }
}

/// An event of the system about a watched directory.
struct DirectoryEvent: Sendable, Equatable {
    var descriptor: Int32
    var kinds: Kinds
    /// The entry of the directory; empty for the directory itself.
    var name = ""

    struct Kinds: OptionSet, Sendable, Hashable {
        let rawValue: Int

        static let appeared = Kinds(rawValue: 1 << 0)
        static let disappeared = Kinds(rawValue: 1 << 1)
        static let moved = Kinds(rawValue: 1 << 2)
        static let modified = Kinds(rawValue: 1 << 3)
        /// The entry is a directory.
        static let directory = Kinds(rawValue: 1 << 4)
        static let selfDeleted = Kinds(rawValue: 1 << 5)
        static let selfMoved = Kinds(rawValue: 1 << 6)
        /// The watch has ended: the directory or its file system is gone.
        static let ignored = Kinds(rawValue: 1 << 7)
        /// Events of any directory were lost.
        static let overflow = Kinds(rawValue: 1 << 8)
    }
}

/// The consequences of a batch of events.
struct WatchOutcome: Sendable, Equatable {
    struct NewEntry: Sendable, Equatable {
        var path: String
        var root: Int
        var depth: Int
    }

    /// Indices of the watched paths that changed.
    var changed: Set<Int> = []
    /// Entries that appeared in a tree; those that are directories are to be watched.
    var newEntries: [NewEntry] = []
    /// Entries that appeared where a file is expected; a directory or link requires a rebuild.
    var possibleDirectories: Set<String> = []
    /// Replace all watches; all paths count as changed.
    var needsRebuild = false
}

/// Absolute paths as text. A slash is one even before a combining mark.
enum WatchPath {
    private static let slash = UInt8(ascii: "/")

    static func join(_ directory: String, _ name: String) -> String {
        directory.utf8.last == slash ? directory + name : directory + "/" + name
    }

    /// The names in a path without "." and empty ones; ".." stays.
    static func components(of path: String) -> [String] {
        path.utf8.split(separator: slash).map { String(Substring($0)) }.filter { $0 != "." }
    }
}
