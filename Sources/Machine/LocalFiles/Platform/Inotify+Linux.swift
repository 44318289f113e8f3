#if os(Linux) || os(Android)
    import Essentials

    /// One inotify instance; closed with its last reference. Any thread may call it.
    ///
    /// A user has few instances, often 128, for all programs.
    package final class Inotify: Sendable {
        package let descriptor: Int32
        private let didClose: @Sendable () -> Void

        package init(didClose: @escaping @Sendable () -> Void = {}) throws(FileError) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { throw .current("open", "inotify") }
            self.descriptor = descriptor
            self.didClose = didClose
        }

        deinit {
            close(descriptor)
            didClose()
        }

        /// Watches a directory or file.
        ///
        /// - Parameter mask: `IN_CREATE` and so on.
        /// - Returns: The watch's number, the same for all paths of a file, or a negated errno.
        package func watch(_ path: String, _ mask: UInt32) -> Int32 {
            let number = PathText.withCString(path) { inotify_add_watch(descriptor, $0, mask) }
            return number >= 0 ? number : -errno
        }

        package func stopWatching(_ number: Int32) { inotify_rm_watch(descriptor, number) }

        /// A `struct inotify_event`.
        package struct Event {
            /// -1: events were lost.
            package let watch: Int32
            package let mask: UInt32
            /// The name of a directory's entry; empty for the watched file itself.
            package let name: UnsafeRawBufferPointer
        }

        /// Reads the pending events, up to `rounds` buffers of them. What `body` is called with is valid until it
        /// returns.
        package func read(rounds: Int = 16, _ body: (Event) -> Void) {
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
                for _ in 0..<rounds {
                    let count = Essentials.read(descriptor, buffer.baseAddress!, buffer.count)
                    guard count > 0 else { return }
                    Self.decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
                }
            }
        }

        /// Descriptor (4 bytes), mask (4), cookie (4), length of the name with its padding of zeros (4), name.
        private static func decode(_ bytes: UnsafeRawBufferPointer, _ body: (Event) -> Void) {
            var offset = 0
            while offset + 16 <= bytes.count {
                let length = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
                let end = offset + 16 + Int(length)
                guard end <= bytes.count else { return }
                let name = bytes[(offset + 16)..<end].prefix { $0 != 0 }
                body(
                    Event(
                        watch: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                        mask: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
                        name: UnsafeRawBufferPointer(rebasing: name)))
                offset = end
            }
        }
    }
#endif
