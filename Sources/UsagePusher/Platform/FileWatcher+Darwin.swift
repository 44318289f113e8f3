#if canImport(Darwin)
    /// The watcher of this system: polls, since Apple's events for single files need an open
    /// descriptor per file, too many for a home directory with many sessions.
    ///
    /// For an example see `WatchLimits`.
    public struct SystemFileWatcher: FileWatcher {
        private let limits: WatchLimits

        public init(limits: WatchLimits = WatchLimits()) {
            self.limits = limits
        }

        public func events(for paths: [WatchedPath]) -> WatchEvents {
            WatchSession.events(for: paths, limits: limits) { session in
                session.poll(because: "polling files every \(limits.pollInterval.components.seconds) s")
                session.post(.started)
                return {}
            }
        }
    }
#endif
