import Foundation

/// What the system says of an entry, links followed.
struct FileFacts: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file
        case folder
        /// A pipe, a socket, a device: never opened.
        case other
    }

    /// The same for all names of one file or folder.
    struct Identity: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64
    }

    var kind: Kind
    var identity: Identity
    var byteCount: Int64
    /// Nanoseconds since 1970.
    var modified: Int64

    var modifiedAt: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }

    init(path: String) throws(FileTrouble) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileTrouble(code: errno) }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino))
        byteCount = Int64(status.st_size)
        modified = ScanSystem.modified(status)
    }
}

/// Why a file or folder could not be read, in words that hold no path.
enum FileTrouble: Error, Sendable, Hashable {
    case missing
    case denied
    /// A link that leads back to itself.
    case linkLoop
    /// A folder, a pipe or a device where a file should be, or a file where a folder should be.
    case wrongKind
    case tooLarge(limit: Int)
    case failed(code: Int32)

    init(code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .denied
            case ELOOP: .linkLoop
            case EISDIR, ENXIO: .wrongKind
            default: .failed(code: code)
            }
    }

    /// Completes "cannot read <path>: …".
    var words: String {
        switch self {
        case .missing: "it is not there"
        case .denied: "permission denied; check its owner and mode"
        case .linkLoop: "its link leads back to itself"
        case .wrongKind: "it is not the kind of file expected here"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        case .failed(let code): String(cString: strerror(code))
        }
    }
}
