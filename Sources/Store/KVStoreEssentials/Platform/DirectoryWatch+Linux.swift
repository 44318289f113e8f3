#if os(Linux) || os(Android)
    import Dispatch
    import Essentials
    import KVStoreLog
    import LocalFiles
    import Synchronization

    extension System {
        /// Watches a folder with inotify; `changed` runs on `queue`.
        static func watch(
            directory: String, queue: DispatchQueue, changed: @escaping @Sendable () -> Void
        ) -> any DirectoryWatch {
            InotifyDirectoryWatch(directory: directory, queue: queue, changed: changed)
                ?? PollingDirectoryWatch(queue: queue, changed: changed)
        }
    }

    /// Unchecked because Dispatch does not declare its sources, which any thread may cancel, as sendable.
    private final class InotifyDirectoryWatch: DirectoryWatch, @unchecked Sendable {
        private let source: any DispatchSourceUserDataOr
        private let watch: ProcessInotify.Watch

        init?(directory: String, queue: DispatchQueue, changed: @escaping @Sendable () -> Void) {
            source = DispatchSource.makeUserDataOrSource(queue: queue)
            source.setEventHandler(handler: changed)
            source.activate()
            guard let watch = ProcessInotify.shared.add(directory, source) else { return nil }
            self.watch = watch
        }

        deinit { cancel() }

        func cancel() {
            ProcessInotify.shared.remove(watch)
            source.cancel()
        }
    }

    /// The inotify instance of all watches of the process.
    private final class ProcessInotify: Sendable {
        struct Watch {
            /// The same for all watches of a directory.
            fileprivate let inotifyNumber: Int32
            fileprivate let number: Int
        }

        static let shared = ProcessInotify()

        /// Unchecked for the same reason.
        private struct State: @unchecked Sendable {
            var instance: (inotify: Inotify, source: any DispatchSourceRead)?
            /// By the number of inotify, and their own.
            var watches: [Int32: [Int: any DispatchSourceUserDataOr]] = [:]
            var watchCount = 0
        }

        private let state = Mutex(State())

        /// Nil when the system has no instance or watch left, or the directory cannot be watched.
        func add(_ directory: String, _ source: any DispatchSourceUserDataOr) -> Watch? {
            let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF)
            return state.withLock { state in
                state.instance = state.instance ?? open()
                guard let inotify = state.instance?.inotify else { return nil }
                let inotifyNumber = inotify.watch(directory, mask)
                guard inotifyNumber >= 0 else { return nil }
                state.watchCount += 1
                state.watches[inotifyNumber, default: [:]][state.watchCount] = source
                return Watch(inotifyNumber: inotifyNumber, number: state.watchCount)
            }
        }

        /// Without effect the second time.
        func remove(_ watch: Watch) {
            state.withLock { state in
                guard state.watches[watch.inotifyNumber]?.removeValue(forKey: watch.number) != nil,
                    state.watches[watch.inotifyNumber]?.isEmpty == true
                else { return }
                state.watches[watch.inotifyNumber] = nil
                state.instance?.inotify.stopWatching(watch.inotifyNumber)
            }
        }

        private func open() -> (Inotify, any DispatchSourceRead)? {
            guard let inotify = try? Inotify() else { return nil }  // without one it polls
            let source = DispatchSource.makeReadSource(
                fileDescriptor: inotify.descriptor, queue: DispatchQueue(label: "ubiquity.inotify"))
            source.setEventHandler { [self] in
                var numbers: Set<Int32> = []
                inotify.read { numbers.insert($0.watch) }
                wake(numbers)
            }
            source.activate()
            return (inotify, source)
        }

        private func wake(_ numbers: Set<Int32>) {
            state.withLock { state in
                // -1: events were lost.
                for number in numbers.contains(-1) ? Set(state.watches.keys) : numbers {
                    for source in state.watches[number, default: [:]].values {
                        source.or(data: 1)
                    }
                }
            }
        }
    }
#endif
