import Foundation

/// What a watcher wants to know about a name on the way to a watched path.
enum WatchedEntry {
    enum Kind: Sendable, Hashable {
        /// Everything that is neither folder nor link.
        case file
        case folder
        case link
        /// Nothing, or nothing that may be seen.
        case missing
    }

    /// What the name stands for itself: a link is a link.
    static func kind(at path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .missing }
        return switch status.st_mode & S_IFMT {
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .file
        }
    }

    /// Whether there is a folder, links followed.
    static func isFolder(_ path: String) -> Bool {
        (try? FileFacts(path: path))?.kind == .folder
    }

    /// Where a symbolic link points; nil when it is none.
    static func target(ofLink path: String) -> String? {
        let capacity = 4_096
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                let count = readlink(path, characters.baseAddress!, capacity)
                guard count > 0, count < capacity else { return nil }
                return String(decoding: buffer.prefix(count), as: UTF8.self)
            }
        }
    }
}
