#if os(Linux) || os(Android)
    import Commands
    import Essentials

    /// A connection to a display server on this machine, which never blocks.
    final class DisplaySocket {
        let descriptor: Int32

        /// Nil with the reason in `errno`.
        init?(path: String) {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
                guard path.utf8.count < field.count else { return false }
                field.copyBytes(from: path.utf8)
                return true
            }
            guard fits else {
                errno = ENAMETOOLONG
                return nil
            }
            let descriptor = socket(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard status == 0 else {
                let code = errno
                close(descriptor)
                errno = code
                return nil
            }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// What has arrived, at most so much of it; empty if there is none yet.
        func receive(byteLimit: Int = 4_096) throws(SourceError) -> ArraySlice<UInt8> {
            var buffer = [UInt8](repeating: 0, count: byteLimit)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return buffer.prefix(count) }
            guard count < 0, errno == EAGAIN || errno == EINTR else { throw .closed }
            return []
        }

        /// Sends bytes, with a descriptor that the server gets a copy of.
        ///
        /// - Returns: how many were sent, negative after an error.
        func send(_ bytes: ArraySlice<UInt8>, passing passed: Int32?) -> Int {
            guard let passed else {
                return bytes.withUnsafeBytes {
                    Essentials.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            // A `cmsghdr`, whose macros Swift does not import, with one descriptor, padded to the size of a word.
            var control = [UInt64](repeating: 0, count: 3)
            control[0] = UInt64(MemoryLayout<cmsghdr>.size + MemoryLayout<Int32>.size)
            return control.withUnsafeMutableBytes { control in
                control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
                control.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
                control.storeBytes(of: passed, toByteOffset: 16, as: Int32.self)
                return bytes.withUnsafeBytes { bytes in
                    var part = iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                    return withUnsafeMutablePointer(to: &part) { part in
                        var message = msghdr()
                        message.msg_iov = part
                        message.msg_iovlen = 1
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                        return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
    }
#endif
