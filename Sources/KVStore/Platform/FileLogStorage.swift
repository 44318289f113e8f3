import Foundation

/// Segments as files `<number, sixteen hexadecimal digits>.log` in one directory of mode 0700, with a file
/// `lock` beside them.
package final class FileLogStorage: LogStorage {
    private let directory: Descriptor
    private let lockFile: Descriptor
    private let root: String
    /// Made of the machine's id and the inode numbers of the folder and its lock file. Files that are copied over these
    /// in place keep it: there is nothing to tell such a restore by.
    package let identity: UInt64

    /// Opens the directory, which is made with its parents where it is missing.
    package init(directory path: String) throws(StorageFailure) {
        root = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageFailure(
                operation: "create folder", path: path, code: EIO,
                message: error.localizedDescription)
        }
        directory = try Descriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        lockFile = try Descriptor(
            opening: "lock", in: directory, root: path, flags: O_RDWR | O_CREAT)
        identity = Self.identity(of: [try directory.inode(), try lockFile.inode()])
    }

    package func segments() throws(StorageFailure) -> [UInt64] {
        let duplicate = openat(directory.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard duplicate >= 0, let stream = fdopendir(duplicate) else {
            throw .current("list", path: root)
        }
        defer { closedir(stream) }
        var numbers: [UInt64] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .current("list", path: root) }
                return numbers.sorted()
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Self.number(of: name) { numbers.append(number) }
        }
    }

    package func open(segment: UInt64) throws(StorageFailure) -> (any LogFile)? {
        let descriptor: Descriptor
        do throws(StorageFailure) {
            descriptor = try Descriptor(
                opening: Self.name(of: segment), in: directory, root: root, flags: O_RDWR)
        } catch  where error.code == ENOENT {
            return nil
        }
        return try FileLogFile(descriptor)
    }

    package func create(
        segment: UInt64, header: [UInt8], byteCount: Int
    ) throws(StorageFailure) -> any LogFile {
        let temporary = Self.name(of: segment) + ".new"
        let descriptor = try Descriptor(
            opening: temporary, in: directory, root: root, flags: O_RDWR | O_CREAT | O_TRUNC)
        do throws(StorageFailure) {
            let code = System.preallocate(descriptor.raw, byteCount: byteCount)
            if code != 0 { throw .with(code, "reserve space for", path: descriptor.path) }
            let file = try FileLogFile(descriptor)
            try file.write(header, at: 0)
            try file.sync()
            let name = Self.name(of: segment)
            guard renameat(directory.raw, temporary, directory.raw, name) == 0 else {
                throw .current("rename", path: descriptor.path)
            }
            do throws(StorageFailure) {
                try syncDirectory()
            } catch {
                unlinkat(directory.raw, name, 0)
                throw error
            }
            descriptor.path = path(segment: segment)
            return file
        } catch {
            unlinkat(directory.raw, temporary, 0)
            throw error
        }
    }

    package func remove(segment: UInt64) throws(StorageFailure) {
        guard unlinkat(directory.raw, Self.name(of: segment), 0) == 0 || errno == ENOENT else {
            throw .current("remove", path: path(segment: segment))
        }
        try syncDirectory()
    }

    package func setAside(segment: UInt64) throws(StorageFailure) -> String {
        let name = Self.name(of: segment)
        for attempt in 1...1_000 {
            let aside = "\(name).damaged-\(attempt)"
            if linkat(directory.raw, name, directory.raw, aside, 0) == 0 {
                try syncDirectory()
                return root + "/" + aside
            }
            guard errno == EEXIST else { break }
        }
        throw .current("set aside", path: path(segment: segment))
    }

    package func lock() throws(StorageFailure) {
        while flock(lockFile.raw, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .current("lock", path: lockFile.path) }
        }
    }

    package func lockIfFree() throws(StorageFailure) -> Bool {
        while flock(lockFile.raw, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw .current("lock", path: lockFile.path) }
        }
        return true
    }

    package func unlock() { _ = flock(lockFile.raw, LOCK_UN) }

    package func path(segment: UInt64) -> String { root + "/" + Self.name(of: segment) }

    private func syncDirectory() throws(StorageFailure) {
        guard fsync(directory.raw) == 0 else { throw .current("sync", path: root) }
    }

    /// FNV-1a over the machine's id, where the system has one, and the numbers.
    private static func identity(of numbers: [UInt64]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in FileManager.default.contents(atPath: "/etc/machine-id")?.prefix(64) ?? Data() {
            add(byte)
        }
        for number in numbers {
            for shift in stride(from: 0, to: 64, by: 8) {
                add(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return hash
    }

    private static func name(of segment: UInt64) -> String {
        let digits = String(segment, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + ".log"
    }

    private static func number(of name: String) -> UInt64? {
        guard name.utf8.count == 20, name.hasSuffix(".log") else { return nil }
        return UInt64(name.dropLast(4), radix: 16)
    }
}

private final class FileLogFile: LogFile {
    let byteCount: Int
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) throws(StorageFailure) {
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else {
            throw .current("read the size of", path: descriptor.path)
        }
        byteCount = Int(status.st_size)
        self.descriptor = descriptor
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        var count = 0
        while count < buffer.count {
            let done = pread(
                descriptor.raw, buffer.baseAddress! + count, buffer.count - count,
                off_t(offset + count))
            if done == 0 { break }
            if done > 0 {
                count += done
            } else if errno != EINTR {
                throw .current("read", path: descriptor.path)
            }
        }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageFailure) {
        var count = 0
        while count < bytes.count {
            let done = pwrite(
                descriptor.raw, bytes.baseAddress! + count, bytes.count - count,
                off_t(offset + count))
            if done > 0 {
                count += done
            } else if done == 0 || errno != EINTR {
                throw .current("write", path: descriptor.path)
            }
        }
    }

    func sync() throws(StorageFailure) {
        // Not repeated on EINTR: what a first failed call left unwritten a second one does not report.
        guard System.syncData(descriptor.raw) == 0 else {
            throw .current("sync", path: descriptor.path)
        }
    }
}

/// An open file that is closed with its last reference.
private final class Descriptor: @unchecked Sendable {
    let raw: Int32
    /// Set only before the descriptor is shared.
    var path: String

    init(opening path: String, flags: Int32) throws(StorageFailure) {
        raw = Foundation.open(path, flags | O_CLOEXEC)
        self.path = path
        guard raw >= 0 else { throw .current("open", path: path) }
    }

    init(
        opening name: String, in directory: Descriptor, root: String, flags: Int32
    ) throws(StorageFailure) {
        raw = openat(directory.raw, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        path = root + "/" + name
        guard raw >= 0 else { throw .current("open", path: path) }
    }

    deinit { if raw >= 0 { close(raw) } }

    func inode() throws(StorageFailure) -> UInt64 {
        var status = stat()
        guard fstat(raw, &status) == 0 else { throw .current("read the number of", path: path) }
        return UInt64(status.st_ino)
    }
}

extension StorageFailure {
    /// The failure that `errno` names.
    fileprivate static func current(_ operation: String, path: String) -> StorageFailure {
        with(errno, operation, path: path)
    }

    fileprivate static func with(
        _ code: Int32, _ operation: String, path: String
    ) -> StorageFailure {
        StorageFailure(
            operation: operation, path: path, code: code, message: String(cString: strerror(code)),
            isOutOfSpace: code == ENOSPC || code == EDQUOT || code == EFBIG)
    }
}
