import Essentials
package import LocalFiles
import Synchronization

/// Segments as files `<number, sixteen hexadecimal digits>.log` in one directory of mode 0700, next to a file `lock`.
package final class FileLogStorage: LogStorage {
    let directory: Descriptor
    private struct Lock {
        var file: Descriptor
        var identity: UInt64
    }

    private let lockState: Mutex<Lock>
    let root: String
    /// A hash of the machine id and the inode numbers of the directory and its lock file. Files copied over these in
    /// place keep it; such a restore cannot be detected.
    package var identity: UInt64 { lockState.withLock { $0.identity } }
    /// Prepared for the next segment.
    private let spare = Mutex<FileLogFile?>(nil)
    /// Held while a spare is prepared.
    private let preparation = Mutex(())
    private static let spareName = "spare"
    private static let temporarySuffix = ".new"
    /// Up to this size a segment without a spare is written once when it is created, as a replica's is. A sync of the
    /// first write into a block that was only reserved waits for the file system's journal, and so for all that other
    /// programs write; one of a block written before does not.
    private static let writtenByteCount = 1 << 20

    /// Opens the directory, and creates it with its parents if it is missing.
    package init(directory path: String) throws(FileError) {
        root = path
        try LocalDirectory(path).create()
        directory = try Descriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        lockState = Mutex(try Self.openLock(in: directory, root: path))
    }

    private static func openLock(in directory: Descriptor, root: String) throws(FileError) -> Lock {
        let file = try Descriptor(opening: "lock", in: directory, root: root, flags: O_RDWR | O_CREAT)
        return Lock(file: file, identity: identity(of: [try directory.inode(), try file.inode()]))
    }

    package func segments() throws(FileError) -> [UInt64] {
        try Self.segments(in: directory, root: root)
    }

    static func segments(in directory: Descriptor, root: String) throws(FileError) -> [UInt64] {
        try names(in: directory, root: root).compactMap { number(of: $0) }.sorted()
    }

    /// The names of all files in the directory, in no particular order.
    func names() throws(FileError) -> [String] { try Self.names(in: directory, root: root) }

    private static func names(in directory: Descriptor, root: String) throws(FileError) -> [String] {
        let duplicate = openat(directory.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard duplicate >= 0, let stream = fdopendir(duplicate) else {
            throw .current("list", path: root)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .current("list", path: root) }
                return names
            }
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
    }

    package func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        let descriptor: Descriptor
        do throws(FileError) {
            descriptor = try Descriptor(opening: Self.name(of: segment), in: directory, root: root, flags: O_RDWR)
        } catch  where error.code == ENOENT {
            return nil
        }
        return try FileLogFile(descriptor)
    }

    package func create(segment: UInt64, content: [UInt8], byteCount: Int) throws(FileError) -> any LogFile {
        let temporary = Self.name(of: segment) + Self.temporarySuffix
        if let file = takeSpare(byteCount, as: temporary) {
            return try finish(file, temporary, segment: segment, content: content)
        }
        let file: FileLogFile
        do throws(FileError) {
            file = try reserve(temporary, byteCount: byteCount)
        } catch  where error.isOutOfSpace {
            discardSpare()
            file = try reserve(temporary, byteCount: byteCount)
        }
        return try finish(file, temporary, segment: segment, content: content)
    }

    /// The spare under another name: from now on a preparation cannot touch it.
    private func takeSpare(_ byteCount: Int, as name: String) -> FileLogFile? {
        spare.withLock { spare in
            guard let file = spare.take() else { return nil }
            guard file.byteCount == byteCount, renameat(directory.raw, Self.spareName, directory.raw, name) == 0 else {
                unlinkat(directory.raw, Self.spareName, 0)
                return nil
            }
            return file
        }
    }

    /// Gives back the space of a spare: one in preparation, or one that a killed process left.
    private func discardSpare() {
        preparation.withLock { _ in
            spare.withLock { spare in
                spare = nil
                unlinkat(directory.raw, Self.spareName, 0)
            }
        }
    }

    package func prepareSpace(byteCount: Int) {
        preparation.withLock { _ in
            let reserved = spare.withLock { spare -> FileLogFile? in
                guard spare == nil else { return nil }
                // Not written to: a process that ended may still be preparing it.
                unlinkat(directory.raw, Self.spareName, 0)
                return try? reserve(Self.spareName, byteCount: byteCount)  // the segment is created when it is needed
            }
            guard let file = reserved else { return }
            do throws(FileError) {
                // In pieces, so that the syncs of the log do not wait for all of it.
                let zeros = [UInt8](repeating: 0, count: 1 << 20)
                for start in stride(from: 0, to: byteCount, by: zeros.count) {
                    try file.write(Array(zeros.prefix(byteCount - start)), at: start)
                    try file.sync()
                }
                spare.withLock { $0 = file }
            } catch {
                unlinkat(directory.raw, Self.spareName, 0)
            }
        }
    }

    package func removeLeftovers() {
        // Removed the next time.
        for name in (try? names()) ?? [] where name == Self.spareName || name.hasSuffix(Self.temporarySuffix) {
            unlinkat(directory.raw, name, 0)
        }
    }

    /// A new file of this size, under a name that is not a segment's.
    private func reserve(_ name: String, byteCount: Int) throws(FileError) -> FileLogFile {
        let descriptor = try Descriptor(opening: name, in: directory, root: root, flags: O_RDWR | O_CREAT | O_TRUNC)
        do throws(FileError) {
            let code = System.preallocate(descriptor.raw, byteCount: byteCount)
            if code != 0 {
                throw FileError(operation: "reserve space for", path: descriptor.path, code: code)
            }
            let file = try FileLogFile(descriptor)
            if byteCount <= Self.writtenByteCount {
                try file.write([UInt8](repeating: 0, count: byteCount), at: 0)
            }
            return file
        } catch {
            unlinkat(directory.raw, name, 0)
            throw error
        }
    }

    /// Makes a reserved file a segment.
    private func finish(
        _ file: FileLogFile, _ name: String, segment: UInt64, content: [UInt8]
    ) throws(FileError) -> FileLogFile {
        do throws(FileError) {
            try file.write(content, at: 0)
            try file.sync()
            guard renameat(directory.raw, name, directory.raw, Self.name(of: segment)) == 0 else {
                throw .current("rename", path: root + "/" + name)
            }
            // If this fails the segment stays: another process may have seen its name.
            try syncNames()
            file.descriptor.path = path(segment: segment)
            return file
        } catch {
            unlinkat(directory.raw, name, 0)
            throw error
        }
    }

    package func remove(segment: UInt64) throws(FileError) {
        guard unlinkat(directory.raw, Self.name(of: segment), 0) == 0 || errno == ENOENT else {
            throw .current("remove", path: path(segment: segment))
        }
        try syncNames()
    }

    package func lock() throws(FileError) { _ = try lock(LOCK_EX) }

    package func lockIfFree() throws(FileError) -> Bool { try lock(LOCK_EX | LOCK_NB) }

    private func lock(_ operation: Int32) throws(FileError) -> Bool {
        while true {
            let file = lockState.withLock { $0.file }
            guard flock(file.raw, operation) == 0 else {
                if errno == EINTR { continue }
                if errno == EWOULDBLOCK { return false }
                throw .current("lock", path: file.path)
            }
            if isPresent(file) { return true }
            // Removed or replaced since it was opened: another process that opens it now would hold another lock.
            do throws(FileError) {
                let renewed = try Self.openLock(in: directory, root: root)
                lockState.withLock { $0 = renewed }
            } catch  where error.isMissing {
                // So is the directory, in which nobody can open one.
                return true
            }
        }
    }

    private func isPresent(_ file: Descriptor) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(file.raw, &held) == 0 && fstatat(directory.raw, "lock", &named, AT_SYMLINK_NOFOLLOW) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    package func unlock() { lockState.withLock { _ = flock($0.file.raw, LOCK_UN) } }

    package func path(segment: UInt64) -> String { root + "/" + Self.name(of: segment) }

    package func syncNames() throws(FileError) {
        guard fsync(directory.raw) == 0 else { throw .current("sync", path: root) }
    }

    /// A hash of the machine id, if the system has one, and the numbers.
    private static func identity(of numbers: [UInt64]) -> UInt64 {
        var hash = FNV1a()
        hash.add(FileManager.default.contents(atPath: "/etc/machine-id")?.prefix(64) ?? Data())
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { hash.add($0) } }
        return hash.value
    }

    static func name(of segment: UInt64) -> String {
        let digits = String(segment, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + ".log"
    }

    private static func number(of name: String) -> UInt64? {
        guard name.utf8.count == 20, name.hasSuffix(".log") else { return nil }
        return UInt64(name.dropLast(4), radix: 16)
    }
}
