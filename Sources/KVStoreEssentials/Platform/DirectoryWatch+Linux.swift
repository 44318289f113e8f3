#if os(Linux) || os(Android)
    import Dispatch
    import Essentials
    import KVStoreLog

    extension System {
        /// Watches a folder with inotify; `changed` runs on `queue`.
        static func watch(
            directory: String, queue: DispatchQueue, changed: @escaping @Sendable () -> Void
        ) -> any DirectoryWatch {
            InotifyDirectoryWatch(directory: directory, queue: queue, changed: changed)
                ?? PollingDirectoryWatch(queue: queue, changed: changed)
        }
    }

    private final class InotifyDirectoryWatch: DirectoryWatch, @unchecked Sendable {
        private let source: any DispatchSourceRead

        init?(directory: String, queue: DispatchQueue, changed: @escaping @Sendable () -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            let mask = UInt32(
                IN_MODIFY | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF)
            guard inotify_add_watch(descriptor, directory, mask) >= 0 else {
                close(descriptor)
                return nil
            }
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler {
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
                defer { buffer.deallocate() }
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
                changed()
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
        }

        // A source that is only let go does not run its cancel handler, and the descriptor would stay open.
        deinit { source.cancel() }

        func cancel() { source.cancel() }
    }
#endif
