#if canImport(Darwin)
    import Dispatch
    import KVStoreLog

    extension System {
        /// Folder events on Apple systems do not tell of writes into files, so this looks now and then.
        static func watch(
            directory: String, queue: DispatchQueue, changed: @escaping @Sendable () -> Void
        ) -> any DirectoryWatch {
            PollingDirectoryWatch(queue: queue, changed: changed)
        }
    }
#endif
