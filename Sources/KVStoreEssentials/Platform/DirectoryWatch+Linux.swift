#if os(Linux) || os(Android)
    import Dispatch
    import Essentials
    import KVStoreLog
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

    /// The inotify instance of all watches of the process: a user has few of them, often 128, for all programs.
    private final class ProcessInotify: Sendable {
        struct Watch: Hashable {
            /// The kernel's, the same for all watches of a directory.
            fileprivate let descriptor: Int32
            fileprivate let number: Int
        }

        static let shared = ProcessInotify()

        /// Unchecked for the same reason.
        private struct State: @unchecked Sendable {
            var instance: (descriptor: Int32, source: any DispatchSourceRead)?
            var watches: [Int32: [Int: any DispatchSourceUserDataOr]] = [:]
            var watchCount = 0
        }

        private let state = Mutex(State())

        /// Nil when the system has no instance or watch left, or the directory cannot be watched.
        func add(_ directory: String, _ source: any DispatchSourceUserDataOr) -> Watch? {
            let events = UInt32(
                IN_MODIFY | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF)
            return state.withLock { state in
                if state.instance == nil { state.instance = open() }
                guard let instance = state.instance?.descriptor else { return nil }
                let descriptor = inotify_add_watch(instance, directory, events)
                guard descriptor >= 0 else { return nil }
                state.watchCount += 1
                state.watches[descriptor, default: [:]][state.watchCount] = source
                return Watch(descriptor: descriptor, number: state.watchCount)
            }
        }

        /// Without effect the second time.
        func remove(_ watch: Watch) {
            state.withLock { state in
                let removed = state.watches[watch.descriptor]?.removeValue(forKey: watch.number)
                guard removed != nil, state.watches[watch.descriptor]?.isEmpty == true else {
                    return
                }
                state.watches[watch.descriptor] = nil
                if let instance = state.instance?.descriptor {
                    inotify_rm_watch(instance, watch.descriptor)
                }
            }
        }

        private func open() -> (descriptor: Int32, source: any DispatchSourceRead)? {
            let instance = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard instance >= 0 else { return nil }
            let source = DispatchSource.makeReadSource(
                fileDescriptor: instance, queue: DispatchQueue(label: "ubiquity.inotify"))
            source.setEventHandler { [self] in
                withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                    while true {
                        let count = read(instance, buffer.baseAddress, buffer.count)
                        guard count > 0 else { return }
                        note(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    }
                }
            }
            source.activate()
            return (instance, source)
        }

        /// - Parameter events: each a `struct inotify_event`: watch (4 bytes), kinds (4), cookie (4), length of the name
        ///   (4), name; see `man 7 inotify`.
        private func note(_ events: UnsafeRawBufferPointer) {
            var descriptors: Set<Int32> = []
            var offset = 0
            while offset + 16 <= events.count {
                descriptors.insert(events.loadUnaligned(fromByteOffset: offset, as: Int32.self))
                let length = events.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
                offset += 16 + Int(length)
            }
            state.withLock { state in
                // -1: events were lost.
                for descriptor in descriptors.contains(-1) ? Set(state.watches.keys) : descriptors {
                    for source in state.watches[descriptor, default: [:]].values {
                        source.or(data: 1)
                    }
                }
            }
        }
    }
#endif
