// Files of one user: atomic replacement, private directories, locks, and where the system wants
// data and settings. Not here: the store's log (KVStoreLog) and other tools' files (UsagePusher).

package import Essentials

/// A small file that is read and written as a whole. Calls block; any thread may make them.
///
/// A written file has mode 0600 unless the writer says otherwise. Readers, also after a crash, see
/// the former file or the new one, never a part: it is written under a temporary name beside `path`
/// first. A crash may leave that name behind; `LocalDirectory.removeAbandonedFiles` removes it.
package struct LocalFile: Sendable, Hashable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Bytes with the status of the very file that they were read from.
    package struct Content: Sendable {
        package var data: Data
        package var status: FileStatus
    }

    /// How far a change gets before the call returns.
    package enum Durability: Sendable {
        /// Other processes see it; a power failure may undo it.
        case cached
        /// File and directory are flushed: it survives a power failure.
        case flushed
    }

    package var directory: LocalDirectory {
        var bytes = Substring(path).utf8
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return LocalDirectory(".") }
        bytes = bytes[..<slash]
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return LocalDirectory(bytes.isEmpty ? "/" : String(Substring(bytes)))
    }

    /// The path that a symbolic link holds, absolute or relative to the link's directory.
    package func linkTarget() throws(FileError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { buffer in
            PathText.withCString(path) {
                readlink($0, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
            }
        }
        guard count >= 0 else { throw .current("read the link", path) }
        return PathText.decode(Array(buffer.prefix(count)))
    }

    /// Reads the file; nil when there is none.
    ///
    /// - Parameter followsLinks: false to refuse a symbolic link as the last component.
    /// - Throws: `notAFile` or `tooLarge` beside the errors of the system.
    package func read(byteLimit: Int, followsLinks: Bool = true) throws(FileError) -> Content? {
        do throws(FileError) {
            return try withOpen(followsLinks: followsLinks) { file throws(FileError) in
                // One byte more than the status promises shows a file that grows meanwhile.
                let expected = min(Int(clamping: file.status.byteCount), byteLimit)
                let bytes = try file.bytes(at: 0, count: expected + 1)
                guard file.status.byteCount <= byteLimit, bytes.count <= byteLimit else {
                    throw FileError(operation: "read", path: path, cause: .tooLarge(byteLimit: byteLimit))
                }
                return Content(data: Data(bytes), status: file.status)
            }
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Opens the file for reading at any offset. A missing file is an error. A pipe or a
    /// device is refused instead of waited for.
    package func withOpen<Result>(
        followsLinks: Bool = true, _ body: (OpenFile) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let notAFile = FileError(operation: "read", path: path, cause: .notAFile)
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = PathText.withCString(path) { open($0, flags) }
        guard descriptor >= 0 else {
            // ENXIO is how a socket answers.
            throw errno == ENXIO ? notAFile : .current("open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("inspect", path) }
        let file = OpenFile(path: path, status: FileStatus(status), descriptor: descriptor)
        guard file.status.kind == .file else { throw notAFile }
        return try body(file)
    }

    /// The file that a symbolic link leads to; the file itself if the path is no link, or missing.
    ///
    /// - Throws: when the link leads to nothing.
    package func resolvingLinks() throws(FileError) -> LocalFile {
        guard try FileStatus(path: path, followsLinks: false)?.kind == .link else { return self }
        guard let target = realpath(path, nil) else { throw .current("follow the link", path) }
        defer { free(target) }
        return LocalFile(String(cString: target))
    }

    /// Replaces the file, or creates it; the directory must exist. A symbolic link at the path is
    /// itself replaced.
    ///
    /// - Throws: The former file is then unchanged, except when only the flush of the directory
    ///   failed: then the new file is in place, but may not survive a power failure.
    package func replace(
        with data: Data, permissions: Int = 0o600, durability: Durability = .flushed
    ) throws(FileError) {
        try withTemporary(permissions, durability) { append throws(FileError) in
            try append(data)
        } _: { temporary throws(FileError) in
            try LocalFile(temporary).rename(to: path)
        }
        if durability == .flushed { try directory.flush() }
    }

    /// Replaces or creates the file at a path that a user names: that which a symbolic link leads to. What is there and
    /// is no file, such as a pipe or "/dev/stdout", gets the bytes and stays.
    package func save(
        _ data: Data, permissions: Int = 0o600, durability: Durability = .flushed
    ) throws(FileError) {
        guard let kind = try FileStatus(path: path)?.kind, kind != .file else {
            return try resolvingLinks().replace(with: data, permissions: permissions, durability: durability)
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .current("write", path) }
        defer { close(descriptor) }
        try Self.write(data, to: descriptor, path)
    }

    /// Creates the file unless the path is taken; the directory must exist. Of several processes
    /// that try at the same time exactly one succeeds.
    ///
    /// - Returns: false when there was something at the path already.
    package func create(with data: Data, durability: Durability = .flushed) throws(FileError) -> Bool {
        try write(replacing: false, durability: durability) { append throws(FileError) in
            try append(data)
        }
    }

    /// Passes the pieces of the file to a function that appends them to it.
    package typealias Pieces = (_ append: (Data) throws(FileError) -> Void) throws(FileError) ->
        Void

    /// Creates the file in pieces, as `create` does, or replaces it, as `replace` does.
    ///
    /// - Returns: false when there was something at the path that is not to be replaced.
    @discardableResult
    package func write(replacing: Bool, durability: Durability = .flushed, pieces: Pieces) throws(FileError) -> Bool {
        let isWritten = try withTemporary(0o600, durability, pieces) { temporary throws(FileError) in
            if replacing {
                try LocalFile(temporary).rename(to: path)
                return true
            }
            if link(temporary, path) == 0 { return true }
            if errno == EEXIST { return false }
            throw FileError.current("create", path)
        }
        if isWritten, durability == .flushed { try directory.flush() }
        return isWritten
    }

    /// Gives the file or directory another name in the same file system, replacing a file of that name. Not durable
    /// before both directories are flushed.
    package func rename(to name: String) throws(FileError) {
        guard Essentials.rename(path, name) == 0 else { throw .current("replace", name) }
    }

    /// Changes the permission bits of the file or directory.
    package func setPermissions(_ permissions: Int) throws(FileError) {
        guard chmod(path, mode_t(permissions)) == 0 else { throw .current("protect", path) }
    }

    /// Removes the file; does nothing when there is none.
    package func remove(durability: Durability = .flushed) throws(FileError) {
        guard unlink(path) == 0 else {
            let error = FileError.current("remove", path)
            if error.isMissing { return }
            throw error
        }
        if durability == .flushed { try directory.flush() }
    }

    /// Passes the path of a complete new file, which is removed afterwards unless it was renamed.
    private func withTemporary<Result>(
        _ permissions: Int, _ durability: Durability, _ pieces: Pieces, _ body: (String) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let temporary = try TemporaryFile(in: directory, for: path)
        defer { temporary.remove() }
        let descriptor = temporary.descriptor
        // The umask may have taken even the owner's bits.
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw .current("protect", path) }
        try pieces { data throws(FileError) in try Self.write(data, to: descriptor, path) }
        if durability == .flushed, FileSystem.flush(descriptor) != 0 { throw .current("flush", path) }
        // A network file system may report only here that it is full.
        guard close(dup(descriptor)) == 0 else { throw .current("write", path) }
        return try body(temporary.path)
    }

    private static func write(_ data: Data, to descriptor: Int32, _ path: String) throws(FileError) {
        var code: Int32 = 0
        data.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count, code == 0 {
                let count = Essentials.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
                if count > 0 {
                    written += count
                } else if count == 0 {
                    code = EIO
                } else if errno != EINTR {
                    code = errno
                }
            }
        }
        guard code == 0 else { throw FileError(operation: "write", path: path, code: code) }
    }
}
