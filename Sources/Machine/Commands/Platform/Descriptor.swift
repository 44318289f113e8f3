import Dispatch
package import Essentials

/// Why output could not be written.
package struct OutputError: ReportableError, Equatable {
    /// The value of `errno`.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The reader has closed its end and wants no more output.
    package var isClosedPipe: Bool { code == EPIPE }

    package var exitStatus: ExitStatus { .ioError }

    package var description: String { "cannot write standard output: \(String(cString: strerror(code)).lowercased())" }
}

/// POSIX file descriptors.
package enum Descriptor {
    /// Gives closed standard descriptors a file, so that no file opened later gets their numbers and, with
    /// them, this program's output. Using them fails with EBADF, as if they were still closed.
    static func occupyClosedStandardDescriptors() {
        // `open` returns the lowest free number, and the wrong direction makes every use fail.
        for (descriptor, direction) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", direction)
        }
    }

    /// The size of a terminal; nil if the descriptor is not a terminal or has no size.
    package static func terminalSize(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The numbers of all that are open.
    package static var allOpen: Set<Int32> {
        // Closing fewer is the worst.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        // The one with which the directory was read is closed now.
        return Set(names.compactMap { Int32($0) }.filter { fcntl($0, F_GETFD) != -1 })
    }

    /// The numbers of those that programs inherit which this one starts.
    package static var allInherited: Set<Int32> { allOpen.filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 } }

    /// Keeps the programs that this one starts from inheriting the descriptors.
    package static func closeOnExec(_ descriptors: some Sequence<Int32>) {
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Calls `ended`, once and from any thread, when nobody can read any more what is written to a pipe, socket or
    /// terminal; never for a file. Takes a thread that sleeps until then.
    package static func whenReaderIsGone(from descriptor: Int32, _ ended: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "reader").async {
            var slot = pollfd(fd: descriptor, events: 0, revents: 0)
            while poll(&slot, 1, -1) < 0 {
                guard errno == EINTR else { return }
            }
            ended()
        }
    }

    /// Writes all bytes.
    ///
    /// - Parameter timeout: how long a full nonblocking descriptor may stay full; nil waits as long as a
    ///   blocking one would.
    package static func write(_ data: Data, to descriptor: Int32, timeout: Duration? = nil) throws(OutputError) {
        let milliseconds = timeout.map { Int32($0 / .milliseconds(1)) } ?? -1
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Essentials.write(descriptor, $0.baseAddress, $0.count) }
            var code = count < 0 ? errno : EIO
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            if code == EAGAIN {
                var slot = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let ready = poll(&slot, 1, milliseconds)
                if ready > 0 { continue }
                if ready < 0 { code = errno }
            }
            if code != EINTR { throw OutputError(code: code) }
        }
    }
}
