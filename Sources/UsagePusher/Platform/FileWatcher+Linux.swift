#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles

    /// The watcher of this system: inotify, with one thread per sequence of events.
    ///
    /// When inotify is unavailable, or out of watches, the paths are compared every
    /// `WatchLimits.pollInterval`, and a `degraded` event says so. Symbolic links on the way to a
    /// path, and to directories below it, are followed; the targets of links to single files inside
    /// a recursive path are not watched.
    public struct SystemFileWatcher: FileWatcher {
        private let limits: WatchLimits
        private let open: @Sendable () throws(FileError) -> Inotify

        public init(limits: WatchLimits = WatchLimits()) {
            self.init(limits: limits) { () throws(FileError) in try Inotify() }
        }

        init(
            limits: WatchLimits, open: @escaping @Sendable () throws(FileError) -> Inotify
        ) {
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

    /// The state of a watching thread.
    private struct InotifyWatch {
        let session: WatchSession
        let open: () throws(FileError) -> Inotify
        private var inotify: Inotify?
        private var table = WatchTable()
        private var entryBudget: Int

        init(session: WatchSession, open: @escaping () throws(FileError) -> Inotify) {
            self.session = session
            self.open = open
            entryBudget = session.limits.entryCount
        }

        mutating func run(until wake: WakeUp) {
            rebuild()
            session.post(.started)
            while !wake.wait(or: inotify?.descriptor) {
                handle(inotify?.events() ?? [])
                // Bounds the work for a file that is written all the time.
                if wake.wait(or: nil, milliseconds: 10) { return }
            }
        }

        private mutating func handle(_ events: [DirectoryEvent]) {
            var outcome = WatchOutcome()
            for event in events { table.apply(event, to: &outcome) }
            for path in outcome.possibleDirectories {
                let kind = Self.kind(path, followsLinks: false)
                if kind == .directory || kind == .link { outcome.needsRebuild = true }
            }
            if outcome.needsRebuild {
                rebuild()
                session.post(.changed(Set(session.paths)))
                return
            }
            entryBudget = session.limits.entryCount
            for entry in outcome.newEntries where Self.kind(entry.path) == .directory {
                watchTree(entry.path, root: entry.root, depth: entry.depth)
            }
            // Posted last: what was written before a new directory was watched is read after it.
            if !outcome.changed.isEmpty {
                session.post(.changed(Set(outcome.changed.map { session.paths[$0] })))
            }
        }

        /// Replaces all watches; the former instance is closed when the new one is complete.
        private mutating func rebuild() {
            do throws(FileError) {
                let former = inotify
                inotify = try open()
                table = WatchTable()
                entryBudget = session.limits.entryCount
                for (root, path) in session.paths.enumerated() { watch(path, root: root) }
                withExtendedLifetime(former) {}
            } catch {
                session.degrade(Self.refusal(error.code, limits: session.limits))
            }
        }

        /// Nil when there is nothing, or nothing visible, at the path.
        private static func kind(_ path: String, followsLinks: Bool = true) -> FileStatus.Kind? {
            (try? FileStatus(path: path, followsLinks: followsLinks))?.kind
        }

        /// Resolves the path from the root of the file system, as the system does, and watches every
        /// directory on the way.
        private mutating func watch(_ watched: WatchedPath, root: Int) {
            var rest = WatchPath.components(of: watched.path)[...]
            var directory = "/"
            var linkCount = 0
            while let name = rest.popFirst() {
                if name == ".." {
                    directory = LocalFile(directory).directory.path
                    continue
                }
                let path = WatchPath.join(directory, name)
                // Watched before it is inspected: a change in between is reported.
                guard let number = add(directory, for: .names) else { return }
                let kind = Self.kind(path, followsLinks: false)
                if let number {
                    table.add(
                        number, path: directory,
                        role: .component(name, root: root, kind: kind, isLast: rest.isEmpty))
                }
                switch kind {
                case .directory: directory = path
                case .link:
                    linkCount += 1
                    guard linkCount <= 40,
                        let target = try? FileManager.default.destinationOfSymbolicLink(
                            atPath: path)
                    else { return }
                    if target.hasPrefix("/") { directory = "/" }
                    rest = (WatchPath.components(of: target) + rest)[...]
                case .file, .other, nil:
                    if rest.isEmpty { _ = add(directory, for: .contents) }
                    return
                }
            }
            if watched.isRecursive {
                watchTree(directory, root: root, depth: session.limits.depth)
            } else if case .some(.some(let number)) = add(directory, for: .contents) {
                table.add(number, path: directory, role: .contents(root: root))
            }
        }

        private mutating func watchTree(_ path: String, root: Int, depth: Int) {
            var waiting = [(path: path, depth: depth)]
            while let (path, depth) = waiting.popLast() {
                guard let number = add(path, for: .contents) else { return }
                guard let number, !table.isInTree(number, root: root) else { continue }
                table.add(number, path: path, role: .tree(root: root, depth: depth))
                guard depth > 0 else { continue }
                // The sources cannot list it either.
                guard let listing = try? LocalDirectory(path).entries(limit: entryBudget) else {
                    continue
                }
                entryBudget -= listing.entries.count
                guard !listing.hasMore else {
                    session.degrade(
                        "\(session.paths[root].path) has too many entries to find every directory;"
                            + " \(Self.interval(session.limits))")
                    return
                }
                for entry in listing.entries where !entry.isKnownFile {
                    let child = WatchPath.join(path, entry.name)
                    if Self.kind(child) == .directory { waiting.append((child, depth - 1)) }
                }
            }
        }

        /// Watches a directory and returns the watch's number; `.some(nil)` when this directory
        /// cannot be watched, nil when no further one can.
        private mutating func add(_ path: String, for interest: Inotify.Interest) -> Int32?? {
            guard let inotify else { return nil }
            let limit = session.limits.directoryCount
            let number = inotify.watch(path, for: interest)
            switch number {
            case 0...:
                guard table.contains(number) || table.directoryCount < limit else {
                    session.degrade(
                        "more than \(limit) directories to watch;"
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
            return
                "cannot watch with inotify: \(String(cString: strerror(code)).lowercased())\(advice);"
                + " \(interval(limits))"
        }

        private static func interval(_ limits: WatchLimits) -> String {
            "comparing files every \(limits.pollInterval.components.seconds) s instead"
        }
    }
#endif
