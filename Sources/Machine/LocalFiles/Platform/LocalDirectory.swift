import Essentials

/// A directory. Calls block; any thread may make them.
package struct LocalDirectory: Sendable, Hashable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package struct Entry: Sendable, Hashable {
        /// Any bytes, as `PathText`; part of a path for all calls of this module that only read.
        package var name: String
        /// Whether the directory itself says that this is a regular file: then no `stat` is needed.
        package var isKnownFile: Bool
    }

    /// Creates the directory and its missing parents with mode 0700; an existing one keeps its mode.
    package func create() throws(FileError) {
        if let status = try FileStatus(path: path) {
            guard status.kind == .directory else {
                throw FileError(operation: "create", path: path, cause: .notADirectory)
            }
            return
        }
        let parent = LocalFile(path).directory
        if parent.path != path { try parent.create() }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .current("create", path) }
    }

    /// The bytes that its user can still store on its disk; nil if that is unknown.
    package var freeByteCount: Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Lists up to `limit` entries in no order, without "." and "..", and whether there are more.
    package func entries(limit: Int = .max) throws(FileError) -> (entries: [Entry], hasMore: Bool) {
        let descriptor = PathText.withCString(path) { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .current("list", path) }
        guard let stream = fdopendir(descriptor) else {
            let error = FileError.current("list", path)
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .current("list", path) }
                return (entries, false)
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                let bytes = UnsafeRawPointer(pointer)
                let count = strlen(bytes.assumingMemoryBound(to: CChar.self))
                return PathText.decode(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            guard name != ".", name != ".." else { continue }
            guard entries.count < limit else { return (entries, true) }
            entries.append(Entry(name: name, isKnownFile: Int32(entry.pointee.d_type) == Int32(DT_REG)))
        }
    }

    /// Removes the directory, which must be empty. Not durable before its parent is flushed.
    package func remove() throws(FileError) {
        guard rmdir(path) == 0 else { throw .current("remove", path) }
    }

    /// Removes the directory with everything in it; follows no links.
    package func removeAll() throws(FileError) {
        for entry in try entries().entries {
            let path = path + "/" + entry.name
            if try FileStatus(path: path, followsLinks: false)?.kind == .directory {
                try LocalDirectory(path).removeAll()
            } else {
                try LocalFile(path).remove(durability: .cached)
            }
        }
        try remove()
    }

    /// Flushes the directory: names created, renamed and removed in it survive a power failure.
    /// Does nothing on a file system that cannot flush directories.
    package func flush() throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .current("flush", path) }
        defer { close(descriptor) }
        guard FileSystem.flush(descriptor) == 0 || errno == EINVAL else { throw .current("flush", path) }
    }
}
