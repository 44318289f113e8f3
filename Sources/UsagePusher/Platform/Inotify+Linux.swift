#if os(Linux) || os(Android)
    import Essentials
    import LocalFiles

    extension Inotify {
        enum Interest {
            /// Names that appear and disappear.
            case names
            /// Names, and writes to the files.
            case contents
        }

        /// Watches a directory, in addition to any former interest. Returns the watch's number,
        /// the same for all paths of a directory, or a negated errno.
        func watch(_ path: String, for interest: Interest) -> Int32 {
            var mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
            if case .contents = interest { mask |= UInt32(IN_MODIFY | IN_CLOSE_WRITE) }
            return watch(path, mask | UInt32(IN_ONLYDIR | IN_MASK_ADD | IN_EXCL_UNLINK))
        }

        /// Reads the pending events.
        func events() -> [DirectoryEvent] {
            var events: [DirectoryEvent] = []
            read { event in
                events.append(
                    DirectoryEvent(
                        descriptor: event.watch, kinds: Self.kinds(of: event.mask), name: PathText.decode(event.name)))
            }
            return events
        }

        private static func kinds(of mask: UInt32) -> DirectoryEvent.Kinds {
            let meanings: [(Int, DirectoryEvent.Kinds)] = [
                (Int(IN_CREATE), .appeared), (Int(IN_MOVED_TO), [.appeared, .moved]), (Int(IN_DELETE), .disappeared),
                (Int(IN_MOVED_FROM), [.disappeared, .moved]), (Int(IN_MODIFY), .modified),
                (Int(IN_CLOSE_WRITE), .modified), (Int(IN_ISDIR), .directory), (Int(IN_DELETE_SELF), .selfDeleted),
                (Int(IN_MOVE_SELF), .selfMoved), (Int(IN_IGNORED), .ignored), (Int(IN_UNMOUNT), .ignored),
                (Int(IN_Q_OVERFLOW), .overflow),
            ]
            return meanings.reduce(into: []) { kinds, meaning in
                if Int(mask) & meaning.0 != 0 { kinds.formUnion(meaning.1) }
            }
        }
    }

    /// Wakes a thread blocked in `poll`; closed with its last reference. Safe from any thread.
    final class WakeUp: Sendable {
        private let reader: Int32
        private let writer: Int32

        /// Nil, with `errno`, when no descriptor is left.
        init?() {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            reader = ends[0]
            writer = ends[1]
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }

        deinit {
            close(reader)
            close(writer)
        }

        func signal() {
            var byte: UInt8 = 1
            _ = write(writer, &byte, 1)
        }

        /// Blocks until the signal, or input from `other`. Returns true once signalled, and from then on.
        func wait(or other: Int32?, milliseconds: Int32 = -1) -> Bool {
            var polled = [pollfd(fd: reader, events: Int16(POLLIN), revents: 0)]
            if let other { polled.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
            while poll(&polled, nfds_t(polled.count), milliseconds) < 0 {
                guard errno == EINTR else { return true }
            }
            return polled[0].revents != 0
        }
    }
#endif
