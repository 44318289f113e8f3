#if os(Linux) || os(Android)
    import Foundation

    /// The watcher of this system: inotify, one thread for each sequence of events.
    ///
    /// Where inotify is refused, or has no room for all folders, the paths are compared every
    /// `WatchLimits.pollInterval`, and a `degraded` event says so. A symbolic link on the way to a
    /// path, or to a folder below it, is followed; what a link to a single file inside a recursive
    /// path points to is not watched.
    public struct SystemFileWatcher: FileWatcher {
        private let limits: WatchLimits
        private let open: @Sendable () -> Inotify.Opening

        public init(limits: WatchLimits = WatchLimits()) {
            self.init(limits: limits, open: { Inotify.open() })
        }

        init(limits: WatchLimits, open: @escaping @Sendable () -> Inotify.Opening) {
            self.limits = limits
            self.open = open
        }

        public func events(for paths: [WatchedPath]) -> WatchEvents {
            WatchSession.events(for: paths, limits: limits) { session in
                guard let wake = WakeUp() else {
                    session.degrade(InotifyWatch.refusal(errno, limits: limits))
                    session.post(.started)
                    return {}
                }
                let open = open
                Thread.detachNewThread {
                    var watch = InotifyWatch(session: session, open: open)
                    watch.run(until: wake)
                }
                return { wake.signal() }
            }
        }
    }

    /// What a watching thread owns.
    private struct InotifyWatch {
        let session: WatchSession
        let open: () -> Inotify.Opening
        private var inotify: Inotify?
        private var table = WatchTable()
        private var entryBudget: Int

        init(session: WatchSession, open: @escaping () -> Inotify.Opening) {
            self.session = session
            self.open = open
            entryBudget = session.limits.entryCount
        }

        mutating func run(until wake: WakeUp) {
            rebuild()
            session.post(.started)
            while !wake.wait(or: inotify?.descriptor) {
                handle(inotify?.notices() ?? [])
                // One look in ten milliseconds is enough for a file that is written all the time.
                if wake.wait(or: nil, milliseconds: 10) { return }
            }
        }

        private mutating func handle(_ notices: [WatchNotice]) {
            var outcome = WatchOutcome()
            for notice in notices { table.interpret(notice, into: &outcome) }
            for path in outcome.mayHaveBecomeFolder {
                switch WatchedEntry.kind(at: path) {
                case .folder, .link: outcome.isRebuildNeeded = true
                case .file, .missing: break
                }
            }
            if outcome.isRebuildNeeded {
                rebuild()
                session.post(.changed(Set(session.paths)))
                return
            }
            entryBudget = session.limits.entryCount
            for entry in outcome.newEntries
            where WatchedEntry.isFolder(entry.path) {
                watchTree(entry.path, root: entry.root, depth: entry.depth)
            }
            // Only now: what was written before a new folder's watch is read after this event.
            if !outcome.changed.isEmpty {
                session.post(.changed(Set(outcome.changed.map { session.paths[$0] })))
            }
        }

        /// Watches everything anew; the former instance closes when the new one stands.
        private mutating func rebuild() {
            switch open() {
            case .refused(let code):
                session.degrade(Self.refusal(code, limits: session.limits))
            case .open(let new):
                let former = inotify
                inotify = new
                table = WatchTable()
                entryBudget = session.limits.entryCount
                for (root, path) in session.paths.enumerated() { watch(path, root: root) }
                withExtendedLifetime(former) {}
            }
        }

        /// Walks from the root of the file system to the path, as the system does.
        private mutating func watch(_ watched: WatchedPath, root: Int) {
            var rest = WatchPath.components(of: watched.path)[...]
            var folder = "/"
            var linkCount = 0
            while let name = rest.popFirst() {
                if name == ".." {
                    folder = WatchPath.parent(of: folder)
                    continue
                }
                let path = WatchPath.join(folder, name)
                // Watched before it is looked at: what happens in between is announced.
                guard let number = add(folder, for: .names) else { return }
                let kind = WatchedEntry.kind(at: path)
                if let number {
                    table.add(
                        number, path: folder,
                        role: .component(name, root: root, kind: kind, isLast: rest.isEmpty))
                }
                switch kind {
                case .folder: folder = path
                case .file, .missing:
                    if rest.isEmpty { _ = add(folder, for: .contents) }
                    return
                case .link:
                    linkCount += 1
                    guard linkCount <= 40, let target = WatchedEntry.target(ofLink: path) else {
                        return
                    }
                    if target.hasPrefix("/") { folder = "/" }
                    rest = (WatchPath.components(of: target) + rest)[...]
                }
            }
            if watched.isRecursive {
                watchTree(folder, root: root, depth: session.limits.depth)
            } else if case .some(.some(let number)) = add(folder, for: .contents) {
                table.add(number, path: folder, role: .contents(root: root))
            }
        }

        private mutating func watchTree(_ path: String, root: Int, depth: Int) {
            var waiting = [(path: path, depth: depth)]
            while let (path, depth) = waiting.popLast() {
                guard let number = add(path, for: .contents) else { return }
                guard let number, !table.isInTree(number, root: root) else { continue }
                table.add(number, path: path, role: .tree(root: root, depth: depth))
                guard depth > 0 else { continue }
                // A folder that cannot be listed has nothing that could be read.
                guard let listing = try? FolderListing.entries(of: path, upTo: entryBudget) else {
                    continue
                }
                entryBudget -= listing.entries.count
                guard !listing.hasMore else {
                    session.degrade(
                        "\(session.paths[root].path) holds too many entries to find every folder;"
                            + " \(Self.interval(session.limits))")
                    return
                }
                for entry in listing.entries where !entry.isSurelyFile {
                    let child = WatchPath.join(path, entry.name)
                    if WatchedEntry.isFolder(child) { waiting.append((child, depth - 1)) }
                }
            }
        }

        /// The number of the folder's watch; `.some(nil)` when it cannot be seen, which concerns
        /// this folder only; nil when there is no room for any further one.
        private mutating func add(_ folder: String, for interest: Inotify.Interest) -> Int32?? {
            guard let inotify else { return nil }
            let number = inotify.watch(folder, for: interest)
            switch number {
            case 0...:
                guard table.holds(number) || table.folderCount < session.limits.folderCount else {
                    session.degrade(
                        "more than \(session.limits.folderCount) folders are to be watched;"
                            + " \(Self.interval(session.limits))")
                    return nil
                }
                return number
            case -ENOSPC, -ENOMEM:
                session.degrade(Self.refusal(-number, limits: session.limits))
                return nil
            default: return .some(nil)
            }
        }

        static func refusal(_ code: Int32, limits: WatchLimits) -> String {
            let advice =
                switch code {
                case EMFILE: " (raise fs.inotify.max_user_instances or the limit of open files)"
                case ENOSPC: " (raise fs.inotify.max_user_watches)"
                default: ""
                }
            return "inotify is refused: \(String(cString: strerror(code)))\(advice);"
                + " \(interval(limits))"
        }

        private static func interval(_ limits: WatchLimits) -> String {
            "files are compared every \(limits.pollInterval.components.seconds) s instead"
        }
    }
#endif
