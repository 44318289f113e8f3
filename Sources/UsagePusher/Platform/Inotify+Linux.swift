#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles

    /// One inotify instance; closed with its last reference. Used by one thread.
    final class Inotify {
        let descriptor: Int32
        private let didClose: () -> Void

        init(didClose: @escaping () -> Void = {}) throws(FileError) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else {
                throw FileError(operation: "open", path: "inotify", code: errno)
            }
            self.descriptor = descriptor
            self.didClose = didClose
        }

        deinit {
            close(descriptor)
            didClose()
        }

        enum Interest {
            /// Names that appear and disappear.
            case names
            /// Names, and writes to the files.
            case contents
        }

        /// Watches a directory, in addition to any former interest. Returns the watch's number,
        /// the same for all paths of a directory, or a negated errno.
        func watch(_ path: String, for interest: Interest) -> Int32 {
            var mask = UInt32(
                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
            if case .contents = interest { mask |= UInt32(IN_MODIFY | IN_CLOSE_WRITE) }
            mask |= UInt32(IN_ONLYDIR | IN_MASK_ADD | IN_EXCL_UNLINK)
            let number = PathText.withCString(path) { inotify_add_watch(descriptor, $0, mask) }
            return number >= 0 ? number : -errno
        }

        func stopWatching(_ number: Int32) { inotify_rm_watch(descriptor, number) }

        /// Reads the pending events, up to `rounds` buffers of them.
        func events(rounds: Int = 16) -> [DirectoryEvent] {
            var events: [DirectoryEvent] = []
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
                for _ in 0..<rounds {
                    let count = read(descriptor, buffer.baseAddress!, buffer.count)
                    guard count > 0 else { return }
                    Self.decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &events)
                }
            }
            return events
        }

        /// `struct inotify_event`: descriptor (4 bytes), mask (4), cookie (4), length of the name
        /// with its padding of zeros (4), name.
        private static func decode(
            _ bytes: UnsafeRawBufferPointer, _ events: inout [DirectoryEvent]
        ) {
            var offset = 0
            while offset + 16 <= bytes.count {
                let number = bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                let mask = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                let length = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
                let end = offset + 16 + Int(length)
                guard end <= bytes.count else { return }
                let name = bytes[(offset + 16)..<end].prefix { $0 != 0 }
                events.append(
                    DirectoryEvent(
                        descriptor: number, kinds: kinds(of: mask),
                        name: PathText.decode(UnsafeRawBufferPointer(rebasing: name))))
                offset = end
            }
        }

        private static func kinds(of mask: UInt32) -> DirectoryEvent.Kinds {
            let meanings: [(Int, DirectoryEvent.Kinds)] = [
                (Int(IN_CREATE), .appeared), (Int(IN_MOVED_TO), [.appeared, .moved]),
                (Int(IN_DELETE), .disappeared), (Int(IN_MOVED_FROM), [.disappeared, .moved]),
                (Int(IN_MODIFY), .modified), (Int(IN_CLOSE_WRITE), .modified),
                (Int(IN_ISDIR), .directory), (Int(IN_DELETE_SELF), .selfDeleted),
                (Int(IN_MOVE_SELF), .selfMoved), (Int(IN_IGNORED), .ignored),
                (Int(IN_UNMOUNT), .ignored), (Int(IN_Q_OVERFLOW), .overflow),
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

        /// Blocks until the signal, or input from `other`. Returns true once signalled, and from
        /// then on.
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
