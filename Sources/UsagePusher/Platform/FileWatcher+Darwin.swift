#if canImport(Darwin)
    /// The watcher of this system. Apple's notices of single files need a descriptor for each of
    /// them, which a home of many sessions has not; the paths are compared instead.
    public struct SystemFileWatcher: FileWatcher {
        private let limits: WatchLimits

        public init(limits: WatchLimits = WatchLimits()) {
            self.limits = limits
        }

        public func events(for paths: [WatchedPath]) -> WatchEvents {
            WatchSession.events(for: paths, limits: limits) { session in
                session.degrade("files are compared every \(limits.pollInterval) on this system")
                session.post(.started)
                return {}
            }
        }
    }
#endif
