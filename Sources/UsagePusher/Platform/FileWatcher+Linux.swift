#if os(Linux) || os(Android)
    import Dispatch
    import Essentials
    import LocalFiles

    /// The watcher of this system: inotify, with one thread per sequence of events.
    ///
    /// What inotify cannot watch, for want of watches or altogether, is polled, and a `degraded` event says so; the
    /// most recently modified directories are watched first. Symbolic links on the way to a path, and to directories
    /// below it, are followed; the targets of links to single files inside a recursive path are not watched.
    ///
    /// For an example see `WatchLimits`.
    public struct SystemFileWatcher: FileWatcher {
        private let limits: WatchLimits
        private let open: @Sendable () throws(FileError) -> Inotify

        public init(limits: WatchLimits = WatchLimits()) {
            self.init(limits: limits) { () throws(FileError) in try Inotify() }
        }

        init(limits: WatchLimits, open: @escaping @Sendable () throws(FileError) -> Inotify) {
            self.limits = limits
            self.open = open
        }

        public func events(for paths: [WatchedPath]) -> WatchEvents {
            WatchSession.events(for: paths, limits: limits) { session in
                guard let wake = WakeUp() else {
                    session.poll(because: InotifyWatch.refusal(errno, limits: limits))
                    session.post(.started)
                    return {}
                }
                let open = open
                DispatchQueue(label: "watch").async {
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
        /// What inotify does not watch.
        private var polled: PolledPaths
        private var nextPoll = ContinuousClock.now

        init(session: WatchSession, open: @escaping () throws(FileError) -> Inotify) {
            self.session = session
            self.open = open
            entryBudget = session.limits.entryCount
            polled = PolledPaths(limits: session.limits)
        }

        mutating func run(until wake: WakeUp) {
            rebuild()
            session.post(.started)
            while !wake.wait(or: inotify?.descriptor, milliseconds: millisecondsToPoll) {
                handle(inotify?.events() ?? [])
                poll()
                // Bounds the work for a file that is written all the time.
                if wake.wait(or: nil, milliseconds: 10) { return }
            }
        }

        /// -1, for ever, when nothing is polled.
        private var millisecondsToPoll: Int32 {
            guard !polled.isEmpty else { return -1 }
            let time = max(.zero, nextPoll - .now).components
            // Rounded up: what is awakened early waits again.
            return Int32(time.seconds * 1_000 + time.attoseconds / 1_000_000_000_000_000 + 1)
        }

        private mutating func poll() {
            guard !polled.isEmpty, ContinuousClock.now >= nextPoll else { return }
            session.postChanges(of: polled.round())
            nextPoll = .now + session.limits.pollInterval
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
            session.postChanges(of: outcome.changed)
        }

        /// Replaces all watches; the former instance is closed when the new one is complete.
        private mutating func rebuild() {
            let former = inotify
            table = WatchTable()
            polled = PolledPaths(limits: session.limits)
            entryBudget = session.limits.entryCount
            do throws(FileError) {
                inotify = try open()
            } catch {
                inotify = nil
                session.post(.degraded(Self.refusal(error.code, limits: session.limits)))
            }
            for (root, path) in session.paths.enumerated() { watch(path, root: root) }
            nextPoll = .now + session.limits.pollInterval
            withExtendedLifetime(former) {}
        }

        /// Nil when there is nothing, or nothing visible, at the path.
        private static func kind(_ path: String, followsLinks: Bool = true) -> FileStatus.Kind? {
            FileStatus.visible(at: path, followsLinks: followsLinks)?.kind
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
                guard let number = add(directory, for: .names) else {
                    polled.add(watched, root: root)
                    return
                }
                let kind = Self.kind(path, followsLinks: false)
                if let number {
                    table.add(
                        number, path: directory, role: .component(name, root: root, kind: kind, isLast: rest.isEmpty))
                }
                switch kind {
                case .directory: directory = path
                case .link:
                    linkCount += 1
                    // Gone again, which is a change of the directory that is watched.
                    guard linkCount <= 40, let target = try? LocalFile(path).linkTarget() else { return }
                    if target.hasPrefix("/") { directory = "/" }
                    rest = (WatchPath.components(of: target) + rest)[...]
                case .file, .other, nil:
                    if rest.isEmpty, add(directory, for: .contents) == nil {
                        polled.add(watched, root: root)
                    }
                    return
                }
            }
            if watched.isRecursive {
                watchTree(directory, root: root, depth: session.limits.depth)
            } else if let number = add(directory, for: .contents) {
                if let number { table.add(number, path: directory, role: .contents(root: root)) }
            } else {
                polled.add(watched, root: root)
            }
        }

        private mutating func watchTree(_ path: String, root: Int, depth: Int) {
            var waiting = [(path: path, depth: depth)]
            while let (path, depth) = waiting.popLast() {
                guard let number = add(path, for: .contents) else {
                    polled.addTree(path, root: root, depth: depth)
                    continue
                }
                guard let number, !table.isInTree(number, root: root) else { continue }
                table.add(number, path: path, role: .tree(root: root, depth: depth))
                guard depth > 0 else { continue }
                // The sources cannot list it either.
                guard let listing = try? LocalDirectory(path).entries(limit: entryBudget) else { continue }
                entryBudget -= listing.entries.count
                guard !listing.hasMore else {
                    reportIncompleteness(root)
                    return
                }
                var children: [(path: String, modified: Int64)] = []
                for entry in listing.entries where !entry.isKnownFile {
                    let child = WatchPath.join(path, entry.name)
                    if let status = FileStatus.visible(at: child), status.kind == .directory {
                        children.append((child, status.modified))
                    }
                }
                // The newest is watched next.
                children.sort { $0.modified < $1.modified }
                waiting += children.map { ($0.path, depth - 1) }
            }
            if polled.isIncomplete { reportIncompleteness(root) }
        }

        private func reportIncompleteness(_ root: Int) {
            session.post(.degraded("\(session.paths[root].path) has too many entries to find every directory"))
        }

        /// Watches a directory and returns the watch's number; `.some(nil)` when this directory
        /// cannot be watched, nil when no further one can.
        private func add(_ path: String, for interest: Inotify.Interest) -> Int32?? {
            guard let inotify else { return nil }
            let limit = session.limits.directoryCount
            let number = inotify.watch(path, for: interest)
            switch number {
            case 0...:
                guard table.contains(number) || table.directoryCount < limit else {
                    inotify.stopWatching(number)
                    session.post(
                        .degraded(
                            "more than \(limit) directories to watch;"
                                + " polling the others \(Self.frequency(session.limits))"))
                    return nil
                }
                return number
            case -ENOSPC, -ENOMEM:
                session.post(.degraded(Self.refusal(-number, limits: session.limits)))
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
                + " polling \(frequency(limits)) instead"
        }

        private static func frequency(_ limits: WatchLimits) -> String {
            "every \(limits.pollInterval.components.seconds) s"
        }
    }
#endif
