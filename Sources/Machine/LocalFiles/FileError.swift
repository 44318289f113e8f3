package import Essentials

/// A failed operation on one file or directory.
package struct FileError: Error, Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// The system call failed with this errno.
        case system(Int32)
        /// A directory, pipe, socket or device where a regular file was expected.
        case notAFile
        case notADirectory
        /// The file exceeds the limit of a bounded read.
        case tooLarge(byteLimit: Int)
        /// The file contains something else than it should: what is wrong, and what to do.
        case invalid(String)
        /// The file is no longer what it was when it was read.
        case changed
    }

    /// A verb phrase that completes "cannot … PATH": "open", "write".
    package let operation: String
    package let path: String
    package let cause: Cause

    package init(operation: String, path: String, cause: Cause) {
        self.operation = operation
        self.path = path
        self.cause = cause
    }

    package init(operation: String, path: String, code: Int32) {
        self.init(operation: operation, path: path, cause: .system(code))
    }

    /// The error that `errno` names; to be created right after the failed call.
    package static func current(_ operation: String, _ path: String) -> FileError {
        FileError(operation: operation, path: path, code: errno)
    }

    /// The errno; for the other causes the one that comes closest.
    package var code: Int32 {
        switch cause {
        case .system(let code): code
        case .notAFile, .invalid, .changed: EINVAL
        case .notADirectory: ENOTDIR
        case .tooLarge: EFBIG
        }
    }

    /// Why the operation failed, in lower case and without the path.
    package var message: String {
        switch cause {
        case .system(let code):
            String(cString: strerror(code)).lowercased()
                + (isPermissionDenied ? FileOwner.advice(path, user: geteuid()) ?? "" : "")
        case .notAFile: "not a regular file"
        case .notADirectory: "not a directory"
        case .tooLarge(let byteLimit): "larger than \(byteLimit) bytes"
        case .invalid(let reason): reason
        case .changed: "it has changed in the meantime; run this again"
        }
    }

    /// Whether the path, or a directory on the way to it, does not exist.
    package var isMissing: Bool { cause == .system(ENOENT) || cause == .system(ENOTDIR) }

    /// Whether the file can be read, but contains something else than it should.
    package var isInvalid: Bool { if case .invalid = cause { true } else { false } }

    package var isPermissionDenied: Bool { cause == .system(EACCES) || cause == .system(EPERM) }

    /// Whether the disk, the user's quota or the largest size of a file is exhausted.
    package var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains { cause == .system($0) } }
}

extension FileError: ReportableError {
    package var exitStatus: ExitStatus { isOutOfSpace ? .cannotCreate : .ioError }
}

extension FileError: CustomStringConvertible {
    /// "cannot open /path: permission denied". The path is not escaped.
    package var description: String { "cannot \(operation) \(path): \(message)" }
}
