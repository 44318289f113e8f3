#if os(Linux) || os(Android)
    import Foundation

    /// One inotify instance; closed with its last reference. Used by one thread.
    final class Inotify {
        let descriptor: Int32
        private let didClose: () -> Void

        private init(descriptor: Int32, didClose: @escaping () -> Void) {
            self.descriptor = descriptor
            self.didClose = didClose
        }

        deinit {
            close(descriptor)
            didClose()
        }

        enum Opening {
            case open(Inotify)
            /// An errno.
            case refused(Int32)
        }

        static func open(didClose: @escaping () -> Void = {}) -> Opening {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            return descriptor >= 0
                ? .open(Inotify(descriptor: descriptor, didClose: didClose))
                : .refused(errno)
        }

        enum Interest {
            /// Names that come and go.
            case names
            /// Names, and what is written to the files.
            case contents
        }

        /// Watches a folder, in addition to what it is watched for already. Returns the watch's
        /// number, the same for all paths of a folder, or a negated errno.
        func watch(_ path: String, for interest: Interest) -> Int32 {
            var mask = UInt32(
                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
            if case .contents = interest { mask |= UInt32(IN_MODIFY | IN_CLOSE_WRITE) }
            mask |= UInt32(IN_ONLYDIR | IN_MASK_ADD | IN_EXCL_UNLINK)
            let number = inotify_add_watch(descriptor, path, mask)
            return number >= 0 ? number : -errno
        }

        /// All notices that wait, up to `rounds` buffers; empty when there are none.
        func notices(rounds: Int = 16) -> [WatchNotice] {
            var notices: [WatchNotice] = []
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
                for _ in 0..<rounds {
                    let count = read(descriptor, buffer.baseAddress!, buffer.count)
                    guard count > 0 else { return }
                    Self.decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &notices)
                }
            }
            return notices
        }

        /// `struct inotify_event`: descriptor (4 bytes), mask (4), cookie (4), length of the name
        /// with its padding of zeros (4), name.
        private static func decode(_ bytes: UnsafeRawBufferPointer, _ notices: inout [WatchNotice])
        {
            var offset = 0
            while offset + 16 <= bytes.count {
                let number = bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                let mask = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                let length = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
                let end = offset + 16 + Int(length)
                guard end <= bytes.count else { return }
                let name = bytes[(offset + 16)..<end].prefix { $0 != 0 }
                notices.append(
                    WatchNotice(
                        descriptor: number, kinds: kinds(of: mask),
                        name: String(decoding: name, as: UTF8.self)))
                offset = end
            }
        }

        private static func kinds(of mask: UInt32) -> WatchNotice.Kinds {
            let meanings: [(Int, WatchNotice.Kinds)] = [
                (Int(IN_CREATE), .appeared), (Int(IN_MOVED_TO), [.appeared, .moved]),
                (Int(IN_DELETE), .disappeared), (Int(IN_MOVED_FROM), [.disappeared, .moved]),
                (Int(IN_MODIFY), .modified), (Int(IN_CLOSE_WRITE), .modified),
                (Int(IN_ISDIR), .folder), (Int(IN_DELETE_SELF), .selfDeleted),
                (Int(IN_MOVE_SELF), .selfMoved), (Int(IN_IGNORED), .ignored),
                (Int(IN_UNMOUNT), .ignored), (Int(IN_Q_OVERFLOW), .overflow),
            ]
            return meanings.reduce(into: []) { kinds, meaning in
                if Int(mask) & meaning.0 != 0 { kinds.formUnion(meaning.1) }
            }
        }
    }

    /// Wakes a thread that waits in `poll`; closed with its last reference. Safe from any thread.
    final class WakeUp: Sendable {
        private let reader: Int32
        private let writer: Int32

        /// Nil when the process has no descriptor left; `errno` says so.
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

        /// Waits for the signal, or for something to read from `other`. Returns true on the
        /// signal, which is never taken back.
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
